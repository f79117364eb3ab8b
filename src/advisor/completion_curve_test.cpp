// SPDX-License-Identifier: Apache-2.0
#include "advisor/completion_curve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

constexpr auto done = RunEnd::completed;
constexpr auto own = RunEnd::own_end;
constexpr auto cut = RunEnd::stopped;

/// Redistribution to the right (Efron 1967), from its description: each stopped run, the shortest
/// first, hands its weight to the runs that outlasted it, in proportion to theirs. What is left of
/// the longest ones stays open.
struct Redistributed {
  std::vector<EndedRun> runs;
  double total = 0;
  explicit Redistributed(std::vector<EndedRun> given) : runs(std::move(given)) {
    for (const EndedRun& run : runs) total += run.weight;
    std::vector<bool> handed(runs.size());
    for (std::size_t round = 0; round < runs.size(); ++round) {
      std::size_t next = runs.size();
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i].end == cut && !handed[i] &&
            (next == runs.size() || runs[i].value < runs[next].value))
          next = i;
      if (next == runs.size()) break;
      handed[next] = true;
      double later = 0;
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (outlasts(i, next, handed)) later += runs[i].weight;
      if (later == 0) continue;
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (outlasts(i, next, handed)) runs[i].weight *= 1 + runs[next].weight / later;
      runs[next].weight = 0;
    }
  }
  [[nodiscard]] bool outlasts(std::size_t i, std::size_t next,
                              const std::vector<bool>& handed) const {
    if (runs[i].value > runs[next].value) return true;
    return runs[i].value == runs[next].value && runs[i].end == cut && !handed[i];
  }
  [[nodiscard]] double share(RunEnd end, double up_to) const {
    double sum = 0;
    for (const EndedRun& run : runs)
      if (run.end == end && run.value <= up_to) sum += run.weight;
    return sum / total;
  }
};

TEST_CASE("without stopped runs it is the plain distribution of the completed ones") {
  const CompletionCurve curve({{10, 1, done}, {20, 1, done}, {5, 2, own}, {40, 2, done}});
  CHECK(near(curve.ended_early(), 2.0 / 6, 1e-12, 0));
  CHECK(curve.open() == 0);
  CHECK(near(curve.at_most(20), 0.5, 1e-12, 0));
  CHECK(curve.quantile(0.25) == 10);
  CHECK(curve.quantile(0.5) == 20);
  CHECK(curve.quantile(0.51) == 40);
  CHECK(near(curve.mean([](double value) { return value; }), (10 + 20 + 80) / 4.0, 1e-12, 0));
}

TEST_CASE("Kaplan-Meier worked out by hand") {
  // 6 at risk: one of 6 ends at 1; one is stopped at 2; one of 4 ends at 3; one of 3 at 4.
  const CompletionCurve curve(
      {{1, 1, done}, {2, 1, cut}, {3, 1, done}, {4, 1, done}, {5, 1, cut}, {6, 1, cut}});
  CHECK(near(curve.at_most(1), 1 - 5.0 / 6, 1e-12, 0));
  CHECK(near(curve.at_most(3), 1 - 5.0 / 6 * 3 / 4, 1e-12, 0));
  CHECK(near(curve.at_most(9), 1 - 5.0 / 6 * 3 / 4 * 2 / 3, 1e-12, 0));
  CHECK(near(curve.open(), 5.0 / 6 * 3 / 4 * 2 / 3, 1e-12, 0));
  CHECK_FALSE(curve.is_open_at(0.5));
  CHECK(curve.is_open_at(0.6));
  CHECK(curve.quantile(0.6) == 6);
}

TEST_CASE("a time-out is a lower bound: it moves the length up, never down") {
  const CompletionCurve without({{100, 1, done}, {200, 1, done}, {300, 1, done}});
  const CompletionCurve with({{100, 1, done}, {200, 1, done}, {300, 1, done}, {250, 2, cut}});
  CHECK(with.quantile(0.5) > without.quantile(0.5));
  const CompletionCurve at_all({{100, 3, cut}});
  CHECK(at_all.completed() == 0);
  CHECK(at_all.is_open_at(0.1));
  CHECK(at_all.quantile(0.5) == 100);
}

TEST_CASE("random runs: the same as redistribution to the right") {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<EndedRun> runs;
    for (std::int64_t i = random.between(1, 12); i > 0; --i)
      runs.push_back({static_cast<double>(random.below(8)), 0.1 + random.uniform(),
                      static_cast<RunEnd>(random.below(3))});
    const CompletionCurve curve(runs);
    const Redistributed other(runs);
    CAPTURE(round);
    CHECK(near(curve.completed(), other.share(done, 99), 1e-9, 1e-9));
    CHECK(near(curve.ended_early(), other.share(own, 99), 1e-9, 1e-9));
    CHECK(near(curve.open(), other.share(cut, 99), 1e-9, 1e-9));
    if (curve.ended_early() > 1 - 1e-6) continue;
    for (int value = 0; value < 8; ++value)
      CHECK(near(curve.at_most(value) * (curve.completed() + curve.open()),
                 other.share(done, value), 1e-9, 1e-9));
  }
}

TEST_CASE("runs of no weight say nothing") {
  CHECK(CompletionCurve({}).completed() == 0);
  CHECK(CompletionCurve({{5, 0, done}}).open() == 0);
  CHECK_FALSE(CompletionCurve({}).has_lengths());
}

TEST_CASE("where the longest run ended by itself, those that were stopped say no length") {
  CHECK_FALSE(CompletionCurve({{10, 1, cut}, {20, 1, own}}).has_lengths());
  CHECK(CompletionCurve({{10, 1, own}, {20, 1, cut}}).has_lengths());
  CHECK(CompletionCurve({{10, 1, cut}, {20, 1, own}, {5, 1, done}}).has_lengths());
}

TEST_CASE("each end says what it is") {
  CHECK(run_end(EndState::completed) == done);
  for (const EndState state : {EndState::failed, EndState::out_of_memory, EndState::cancelled})
    CHECK(run_end(state) == own);
  for (const EndState state :
       {EndState::timeout, EndState::node_fail, EndState::preempted, EndState::requeued})
    CHECK(run_end(state) == cut);
}

}  // namespace
}  // namespace schedmate::advisor
