// SPDX-License-Identifier: Apache-2.0

/// One case for each thing that an owner may be told of a job's length.

#include <doctest/doctest.h>

#include <cmath>

#include "advisor/estimates.hpp"
#include "advisor/run_answer.hpp"
#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

using PastRuns = std::vector<PastRun>;

PastRun ended(std::int64_t duration_s, EndState state = EndState::completed) {
  PastRun past;
  past.duration = Seconds(duration_s);
  past.state = state;
  return past;
}

struct Given {
  AdviceSource source = AdviceSource::resubmission;
  PastRuns matches{}, own{};
  std::vector<LengthMiss> misses{};
  std::optional<Seconds> limit{};
  LimitPolicy limits{};
};
RunAnswer answer(const Given& given) {
  return answer_calibrated({.source = given.source,
                            .matches = given.matches,
                            .own = given.own,
                            .residuals = {},
                            .limit = given.limit,
                            .now = at(0),
                            .misses = given.misses,
                            .limits = given.limits});
}
std::string help(const RunAnswer& answer) {
  std::string all;
  for (const std::string& each : would_help(answer)) all += each + "\n";
  return all;
}

/// As many answers that were right to a tenth as far off as they may be.
std::vector<LengthMiss> good_misses(std::size_t count) {
  std::vector<LengthMiss> misses{};
  for (std::size_t i = 0; i < count; ++i)
    misses.push_back({.log_ratio = 0.1 * (static_cast<double>(i % 21) - 10) / 10,
                      .source = AdviceSource::resubmission,
                      .same_user = true,
                      .log_centre = static_cast<double>(i)});
  return misses;
}

TEST_CASE("answer: completed runs are told with an interval and a limit above it") {
  const RunAnswer told =
      answer({.matches = {ended(3600), ended(3500), ended(3700)}, .misses = good_misses(500)});
  REQUIRE(told.known());
  CHECK(near(told.p50.count(), 3600, 0.02, 0));
  CHECK(told.p10 < told.p50);
  CHECK(told.p50 < told.p90);
  // Nine of ten past answers were off by less than a tenth.
  CHECK(near(told.p90.count(), 3600 * std::exp(0.08), 0.02, 0));
  CHECK(told.early_end == 0.0);
  REQUIRE(told.time_limit.has_value());
  CHECK(FractionalSeconds(told.time_limit->suggested) > told.p90);
  CHECK(told.time_limit->suggested <= Seconds(4500));
  CHECK(told.time_limit->risk == 0.05);
  CHECK(help(told).empty());
}

TEST_CASE(
    "answer: what was stopped counts as at least that long, what ended by itself as no length") {
  const RunAnswer plain = answer({.matches = {ended(1000), ended(1000), ended(1000)}});
  const RunAnswer stopped =
      answer({.matches = {ended(1000), ended(3000, EndState::timeout), ended(1000)}});
  const RunAnswer failed =
      answer({.matches = {ended(1000), ended(5, EndState::failed), ended(1000)}});
  CHECK(stopped.mean > plain.mean);
  CHECK(stopped.early_end == 0.0);
  CHECK(near(failed.p50.count(), 1000, 1e-9, 0));
  CHECK(failed.early_end.value() > 0.1);
  CHECK(failed.runs_by_state ==
        std::map<EndState, std::size_t>{{EndState::completed, 2}, {EndState::failed, 1}});
}

TEST_CASE("answer: without a completed run the length is not known") {
  const RunAnswer killed =
      answer({.matches = {ended(600, EndState::timeout), ended(600, EndState::node_fail)}});
  CHECK_FALSE(killed.known());
  CHECK_FALSE(killed.time_limit.has_value());
  CHECK(killed.not_known ==
        "none of the past runs completed: 1 killed by the limit (counted as at least that long), 1 "
        "lost with the node (counted as at least that long)");
  CHECK(help(killed).contains("a run with a longer limit"));
  const RunAnswer lost = answer({.matches = {ended(600, EndState::preempted)}});
  CHECK_FALSE(lost.known());
  CHECK_FALSE(help(lost).contains("tells these runs apart"));
}

TEST_CASE("answer: other jobs of a user do not show how long one runs that has only failed") {
  const PastRuns own{ended(3600), ended(3700), ended(3500)};
  const PastRuns failed{ended(30, EndState::failed), ended(40, EndState::failed)};
  const RunAnswer same = answer({.matches = failed, .own = own});
  CHECK(same.not_known == "none of the past runs completed: 2 failed");
  CHECK(same.early_end == 1.0);
  CHECK(same.source == AdviceSource::none);
  // Of jobs that are only alike, they do; and all that is said is said of them.
  const RunAnswer alike = answer({.source = AdviceSource::similar, .matches = failed, .own = own});
  CHECK(alike.source == AdviceSource::user_history);
  CHECK(alike.early_end == 0.0);
  CHECK(alike.runs_by_state == std::map<EndState, std::size_t>{{EndState::completed, 3}});
  // Unless they have none, either.
  const RunAnswer none = answer(
      {.source = AdviceSource::similar, .matches = failed, .own = {ended(9, EndState::cancelled)}});
  CHECK(none.not_known == "none of the past runs completed: 2 failed");
  CHECK(answer({.source = AdviceSource::none}).not_known.empty());
  CHECK_FALSE(answer({.source = AdviceSource::none}).early_end.has_value());
}

TEST_CASE("answer: an interval of more than three orders of magnitude is none") {
  const RunAnswer unlike =
      answer({.matches = {ended(20), ended(600'000), ended(60), ended(100'000), ended(5000)}});
  CHECK(unlike.not_known == "5 unlike runs, 20 s to 6.9 d");
  CHECK(help(unlike).contains("tells these runs apart"));
  std::vector<LengthMiss> wild = good_misses(500);
  for (LengthMiss& miss : wild) miss.log_ratio *= 100;
  const RunAnswer off =
      answer({.matches = {ended(3600), ended(3500), ended(3700)}, .misses = wild});
  CHECK(off.not_known == "past answers for such jobs were far off");
}

TEST_CASE("answer: most runs stopped leave the median open") {
  const RunAnswer open =
      answer({.matches = {ended(100), ended(3000, EndState::timeout),
                          ended(3000, EndState::timeout), ended(3000, EndState::timeout)}});
  CHECK(open.not_known.starts_with("most past runs were stopped before they could complete: "));
}

TEST_CASE("answer: the limit asked for cuts what is told, and its own risk is said") {
  const Given given{.matches = {ended(3600), ended(3500), ended(3700)},
                    .misses = good_misses(500),
                    .limit = Seconds(1800)};
  const RunAnswer told = answer(given);
  REQUIRE(told.known());
  CHECK(told.p90 == FractionalSeconds(1800));
  CHECK(near(told.centre.count(), 3600, 0.02, 0));
  CHECK(told.time_limit->asked_risk.value() > 0.9);
  Given enough = given;
  enough.limit = Seconds(36'000);
  CHECK(answer(enough).time_limit->asked_risk.value() < 0.05);
}

TEST_CASE("answer: a smaller risk needs a longer limit, and none is above the longest allowed") {
  Given given{.matches = {ended(500), ended(490), ended(510)}, .misses = good_misses(500)};
  given.limits.risk = 0.4;
  const Seconds risky = answer(given).time_limit->suggested;
  given.limits.risk = 0.01;
  CHECK(answer(given).time_limit->suggested > risky);
  given.limits = {.risk = 0.05, .longest = Seconds(240)};
  const TimeLimit limit = *answer(given).time_limit;
  CHECK(limit.suggested == Seconds(240));
  CHECK(limit.longest);
  CHECK(limit.risk > 0.9);
}

TEST_CASE("answer: the paper's has one figure, and says nothing of ends before it") {
  const PastRuns matches{ended(100), ended(7, EndState::failed), ended(300)};
  const RunAnswer paper = answer_paper({.source = AdviceSource::similar,
                                        .matches = matches,
                                        .own = {},
                                        .residuals = {},
                                        .limit = {},
                                        .now = at(0)});
  CHECK(paper.known());
  CHECK(paper.p50 == FractionalSeconds(200));
  CHECK_FALSE(paper.early_end.has_value());
  CHECK_FALSE(paper.time_limit.has_value());
}

}  // namespace
}  // namespace schedmate::advisor
