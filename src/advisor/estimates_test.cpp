// SPDX-License-Identifier: Apache-2.0
#include "advisor/estimates.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

PastRun run(std::int64_t duration_s, EndState state = EndState::completed) {
  PastRun past;
  past.id = "j" + std::to_string(duration_s);
  past.duration = Seconds(duration_s);
  past.state = state;
  return past;
}

Estimate calibrated(const std::vector<PastRun>& matches, std::optional<Seconds> limit = {}) {
  return estimate_calibrated({AdviceSource::similar, matches, {}, {}, limit, at(0)});
}

bool ordered(const Estimate& estimate) {
  return estimate.p10 <= estimate.p50 && estimate.p50 <= estimate.p90;
}

TEST_CASE("paper: the plain mean of up to three completed matches") {
  std::vector<PastRun> matches{run(100), run(7, EndState::failed), run(200), run(600), run(9999)};
  matches[0].gpu_util_pct = 50;
  matches[2].gpu_util_pct = 70;
  const Estimate estimate =
      estimate_paper({AdviceSource::similar, matches, {}, {}, std::nullopt, at(0)});
  CHECK(near(estimate.mean.count(), 300, 1e-12, 0));
  CHECK(near(estimate.p10.count(), 100, 1e-12, 0));
  CHECK(near(estimate.p90.count(), 600, 1e-12, 0));
  CHECK(estimate.gpu_util_pct == 60.0);
  CHECK(!estimate.gpu_memory_mib);
  CHECK(estimate.runs == 3);
  const EstimateInput of_one{AdviceSource::similar, matches, {}, {}, std::nullopt, at(0), 1};
  CHECK(near(estimate_paper(of_one).mean.count(), 100, 1e-12, 0));
}

TEST_CASE("paper: no match, no figure") {
  CHECK(estimate_paper({}).source == AdviceSource::none);
  const std::vector<PastRun> failed{run(7, EndState::failed)};
  CHECK(estimate_paper({AdviceSource::similar, failed, {}, {}, {}, at(0)}).source ==
        AdviceSource::none);
}

TEST_CASE("every row keeps to the limit, in order, and knows when it knows nothing") {
  for (const EstimateRow& row : estimate_rows()) {
    CAPTURE(row.name);
    CHECK(row.make({}).source == AdviceSource::none);
    const std::vector<PastRun> matches{run(0), run(5000), run(900'000'000)};
    for (const auto limit : {std::optional<Seconds>(), std::optional(Seconds(60))}) {
      const Estimate estimate =
          row.make({AdviceSource::resubmission, matches, {}, {}, limit, at(100)});
      CHECK(estimate.source == AdviceSource::resubmission);
      CHECK(ordered(estimate));
      CHECK(std::isfinite(estimate.p90.count()));
      CHECK(estimate.p10.count() >= 0);
      if (limit) {
        CHECK(estimate.p90 <= FractionalSeconds(*limit));
        CHECK(estimate.mean <= FractionalSeconds(*limit));
      }
    }
  }
}

TEST_CASE("calibrated: a scaled match answers for the scaled job") {
  std::vector<PastRun> matches{run(1000), run(1000)};
  for (PastRun& each : matches) each.scale = 2;
  CHECK(near(calibrated(matches).p50.count(), 2000, 1e-12, 0));
}

TEST_CASE("calibrated: early ends stay a part of the distribution, unscaled") {
  std::vector<PastRun> matches{run(1000), run(1000), run(10, EndState::failed), run(1000)};
  for (PastRun& each : matches) each.scale = 4;
  const Estimate estimate = calibrated(matches);
  CHECK(near(estimate.p50.count(), 4000, 1e-12, 0));
  CHECK(estimate.early_end > 0);
  CHECK(estimate.early_end < 0.5);
  CHECK(estimate.mean < estimate.p50);
}

TEST_CASE("calibrated: one absurd run among many is left out, and said so") {
  const std::vector<PastRun> matches{run(100), run(110), run(90), run(105), run(5'000'000)};
  const Estimate estimate = calibrated(matches);
  CHECK(estimate.mean.count() < 120);
  CHECK(estimate.runs == 4);
  CHECK(estimate.notes.size() == 1);
}

TEST_CASE("calibrated: runs of a user whose jobs overrun count less") {
  std::vector<PastRun> matches{run(100), run(10'000)};
  matches[0].trust = 0.1;
  CHECK(calibrated(matches).p50.count() > 1000);
  matches[0].trust = 1;
  matches[1].trust = 0.1;
  CHECK(calibrated(matches).p50.count() < 1000);
}

TEST_CASE("calibrated: newer runs count more") {
  std::vector<PastRun> matches;
  for (int i = 0; i < 8; ++i) {
    matches.push_back(run(i < 4 ? 100 : 1000));
    matches.back().submit = at(std::int64_t{3600} * i);
  }
  const Estimate estimate = estimate_calibrated(
      {AdviceSource::resubmission, matches, {}, {}, {}, at(std::int64_t{3600} * 9)});
  CHECK(near(estimate.p50.count(), 1000, 1e-12, 0));
}

TEST_CASE("calibrated: without matches the user's last jobs, without those nothing") {
  const std::vector<PastRun> own{run(50), run(60), run(70), run(80), run(90), run(1'000'000)};
  const Estimate estimate =
      estimate_calibrated({AdviceSource::similar, {}, own, {}, std::nullopt, at(0)});
  CHECK(estimate.source == AdviceSource::user_history);
  CHECK(estimate.p50.count() >= 50);
  CHECK(estimate.p50.count() <= 90);
}

TEST_CASE("an estimate has a name, and a misspelled one a neighbour") {
  REQUIRE(find_estimate("calibrated"));
  CHECK((*find_estimate("paper"))->name == "paper");
  const auto wrong = find_estimate("calibratd");
  REQUIRE(!wrong);
  CHECK(wrong.error().message.find("nearest: calibrated") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::advisor
