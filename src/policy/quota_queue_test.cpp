// SPDX-License-Identifier: Apache-2.0
#include "policy/quota_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "tests/support/small.hpp"

namespace schedmate::policy {
namespace {

using testing::job;

using Jobs = std::vector<JobId>;

TEST_CASE("a job that the quota does not cover is passed over, smaller ones behind it are not") {
  QuotaQueue queue;
  queue.wait(job(0), 6, 1);
  queue.wait(job(1), 4, 2);
  queue.wait(job(2), 2, 3);
  queue.wait(job(3), 1, 4);
  // 8 GPUs: 6 taken, 4 passed over, 2 taken, none left.
  CHECK(queue.choose(8, {}).start == Jobs{job(0), job(2)});
}

TEST_CASE("running jobs that are passed over are to be preempted, covered ones stay") {
  QuotaQueue queue;
  queue.run(job(0), 4, 10);
  queue.run(job(1), 4, 20);
  queue.wait(job(2), 4, 15);
  const auto& choice = queue.choose(8, {});
  CHECK(choice.start == Jobs{job(2)});
  CHECK(choice.preempt == Jobs{job(1)});
}

TEST_CASE("equal keys: running first, or waiting first when the rule says so") {
  QuotaQueue queue;
  queue.wait(job(0), 8, 5);
  queue.run(job(1), 8, 5);
  CHECK(queue.choose(8, {}).start.empty());
  const auto& choice = queue.choose(8, {.running_offset = 0, .waiting_first = true});
  CHECK(choice.start == Jobs{job(0)});
  CHECK(choice.preempt == Jobs{job(1)});
}

TEST_CASE("the offset shifts running jobs against waiting ones") {
  QuotaQueue queue;
  queue.wait(job(0), 8, 5);
  queue.run(job(1), 8, 100);
  CHECK(queue.choose(8, {.running_offset = -96}).start.empty());
  CHECK(queue.choose(8, {.running_offset = -94}).start == Jobs{job(0)});
}

TEST_CASE("a new key moves a job, but not among its equals") {
  QuotaQueue queue;
  queue.wait(job(0), 8, 1);
  queue.wait(job(1), 8, 1);
  queue.rekey(job(0), 2);
  CHECK(queue.choose(8, {}).start == Jobs{job(1)});
  queue.rekey(job(0), 1);
  CHECK(queue.choose(8, {}).start == Jobs{job(0)});
  CHECK(queue.key(job(0)) == 1);
  CHECK_FALSE(queue.running(job(0)));
}

/// The walk over one sorted list of all jobs.
class PlainQueue {
 public:
  struct Entry {
    JobId id;
    int gpus;
    double key;
    std::uint64_t order;
    bool running;
  };
  std::vector<Entry> entries;

  QuotaQueue::Choice choose(int quota, QuotaQueue::Rule rule) const {
    auto all = entries;
    for (Entry& entry : all) entry.key += entry.running ? rule.running_offset : 0;
    std::ranges::sort(all, [&](const Entry& a, const Entry& b) {
      if (a.key != b.key) return a.key < b.key;
      if (a.running != b.running) return a.running != rule.waiting_first;
      return a.order < b.order;
    });
    QuotaQueue::Choice choice;
    for (const Entry& entry : all) {
      const bool covered = entry.gpus <= quota;
      if (covered) quota -= entry.gpus;
      if (covered && !entry.running) choice.start.push_back(entry.id);
      if (!covered && entry.running) choice.preempt.push_back(entry.id);
    }
    return choice;
  }
};

TEST_CASE("the walk per GPU count chooses as a walk over one sorted list") {
  Random random(9);
  for (int round = 0; round < 200; ++round) {
    QuotaQueue queue;
    PlainQueue plain;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const int gpus = static_cast<int>(random.between(1, 6));
      const auto key = static_cast<double>(random.below(12));
      const bool running = random.below(3) == 0;
      if (running) {
        queue.run(job(i), gpus, key);
      } else {
        queue.wait(job(i), gpus, key);
      }
      plain.entries.push_back({job(i), gpus, key, i, running});
      if (random.below(4) == 0) {
        const auto victim = random.below(std::ssize(plain.entries));
        queue.remove(plain.entries[static_cast<std::size_t>(victim)].id);
        plain.entries.erase(plain.entries.begin() + victim);
      }
      const int quota = static_cast<int>(random.between(0, 40));
      const QuotaQueue::Rule rule{static_cast<double>(random.between(-3, 3)), random.below(2) == 0};
      const auto expected = plain.choose(quota, rule);
      const auto& choice = queue.choose(quota, rule);
      REQUIRE(choice.start == expected.start);
      REQUIRE(choice.preempt == expected.preempt);
    }
  }
}

}  // namespace
}  // namespace schedmate::policy
