// SPDX-License-Identifier: Apache-2.0
#include "policy/partners.hpp"

#include <doctest/doctest.h>

#include "base/random.hpp"

namespace schedmate::policy {
namespace {

struct Waiting {
  int gpus = 1;
  double memory_left = 0;
  Partners::Mark seen = 0;
};

TEST_CASE("partners: offers and refusals at random, as a search through all of them finds") {
  Random random(7);
  Partners partners;
  struct Open {
    int gpus;
    Partners::Mark mark;
    Partners::Resident resident;
  };
  std::vector<Open> open;
  std::vector<Waiting> waiting;
  std::uint32_t taken = 0;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    const auto what = random.below(4);
    const int gpus = static_cast<int>(random.between(1, 2));
    if (what == 0) {
      // Starts come in any order: who loses a partner offers again.
      const Partners::Resident one{
          .id = static_cast<JobId>(step),
          .started = static_cast<std::uint64_t>(random.below(1000)) * 100'000 + step,
          .memory_mib = static_cast<double>(random.below(12))};
      open.push_back({gpus, partners.offer(gpus, one), one});
    } else if (what == 1 && !open.empty()) {
      const auto gone = open.begin() + random.between(0, std::ssize(open) - 1);
      partners.withdraw(gone->gpus, gone->mark);
      partners.withdraw(gone->gpus, gone->mark);  // a second time: nothing
      open.erase(gone);
    } else if (what == 2) {
      waiting.push_back({gpus, static_cast<double>(random.below(4)), 0});
    } else if (!waiting.empty()) {
      const auto who = waiting.begin() + random.between(0, std::ssize(waiting) - 1);
      Waiting& job = *who;
      const auto fits = [&](const Partners::Resident& resident) {
        return resident.memory_mib < job.memory_left;
      };
      auto expected = open.end();
      for (auto at = open.begin(); at != open.end(); ++at) {
        if (at->gpus != job.gpus || !fits(at->resident)) continue;
        if (expected == open.end() || at->resident.started < expected->resident.started)
          expected = at;
      }
      const auto found = partners.take_first(job.gpus, job.seen, fits);
      REQUIRE(found.has_value() == (expected != open.end()));
      if (!found) continue;
      ++taken;
      CHECK(*found == expected->resident.id);
      open.erase(expected);
      waiting.erase(who);
    }
  }
  CHECK(taken > 500);
}

}  // namespace
}  // namespace schedmate::policy
