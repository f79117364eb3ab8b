// SPDX-License-Identifier: Apache-2.0
#include "queue/eta_calibration.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <schedmate/store.hpp>

#include "base/random.hpp"
#include "queue/site_past.hpp"
#include "service/advisor_state.hpp"
#include "service/history.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::queue {
namespace {

using testing::ClusterSite;
using testing::need;

constexpr const char* recorded = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt";
constexpr std::int64_t recorded_at_s = 1'795'617'741;

/// Four days of jobs with a node each, first come first served on the six nodes of the recording.
std::string days_of_accounting() {
  std::string dump =
      "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES\n";
  Random random(5);
  std::array<std::int64_t, 6> free_at{};
  std::int64_t submit_s = recorded_at_s - std::int64_t{4} * 86'400;
  for (int id = 1000; submit_s < recorded_at_s - 86'400; ++id) {
    submit_s += random.between(0, 2200);
    auto& node = *std::ranges::min_element(free_at);
    const std::int64_t start_s = std::max(submit_s, node);
    const std::int64_t ran_s = random.between(600, 14'000);
    node = start_s + ran_s;
    dump += fmt::format("{}|{}|gpu|COMPLETED|{}|{}|{}|{}|300|cpu=4,node=1,gres/gpu=8\n", id,
                        id % 3 == 0 ? "ann" : "bob", submit_s, start_s, node, ran_s);
  }
  return dump;
}

std::string with_cluster_name(const std::string& name) {
  std::ifstream file(recorded);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string of_recording = "= testbed";
  const std::size_t at = text.find(of_recording, text.find("ClusterName"));
  REQUIRE(at != std::string::npos);
  return text.replace(at, of_recording.size(), "= " + name);
}

EtaCalibrationRequest of_the_recording() {
  EtaCalibrationRequest request;
  request.of.from = recorded;
  request.of.policy = "fifo";
  request.of.samples = 20;
  request.days = 5;
  request.instants = 100;
  return request;
}

/// How far all starts and ends of two forecasts of one queue are apart, in seconds.
std::int64_t apart_s(const Eta& one, const Eta& other) {
  REQUIRE(one.jobs.size() == other.jobs.size());
  std::int64_t sum = 0;
  const auto add = [&](const InstantQuantiles& a, const InstantQuantiles& b) {
    for (const auto at : instants_of_shares)
      if (a.*at != never && b.*at != never) sum += std::abs((a.*at - b.*at).count());
  };
  for (std::size_t i = 0; i < one.jobs.size(); ++i) {
    add(one.jobs[i].end, other.jobs[i].end);
    if (one.jobs[i].start && other.jobs[i].start) add(*one.jobs[i].start, *other.jobs[i].start);
  }
  return sum;
}

/// How far the shares that came true are from those that were told, over the kinds.
double missed(const EtaCalibrationFigures& figures, bool calibrated) {
  double sum = 0;
  for (const auto& kind : figures.kinds)
    for (std::size_t i = 0; i < quantile_shares.size(); ++i)
      sum += std::abs((calibrated ? kind.calibrated : kind.told)[i] - quantile_shares[i]);
  return sum;
}

TEST_CASE("forecasts of the accounting are kept, and the next forecast stands on them") {
  const ClusterSite site;
  REQUIRE(service::import_jobs(site.session(),
                               "sacct:" + site.write("dump.txt", days_of_accounting())));
  const EtaCalibrationRequest request = of_the_recording();
  const Eta before = need(eta(site.session(), request.of));
  CHECK(before.calibrated_on == 0);
  const auto figures = need(calibrate_eta(site.session(), request));
  CHECK(figures.instants > 10);
  CHECK(figures.until == before.now);
  std::int64_t forecasts = 0;
  for (const auto& kind : figures.kinds) forecasts += kind.forecasts;
  CHECK(figures.kinds.front().forecasts > 10);
  for (const auto& kind : figures.kinds) {
    CAPTURE(static_cast<int>(kind.kind));
    CHECK(kind.judged > 10);
    CHECK(kind.told != kind.calibrated);
  }
  CHECK(missed(figures, true) < missed(figures, false));
  const Eta after = need(eta(site.session(), request.of));
  CHECK(after.calibrated_on == forecasts);
  CHECK(after.cluster == "testbed");
  CHECK(apart_s(before, after) > 600);
  CHECK(apart_s(before, before) == 0);
  // Each policy and each cluster has its own.
  EtaRequest other = request.of;
  other.policy = "backfill_easy";
  CHECK(need(eta(site.session(), other)).calibrated_on == 0);
  EtaRequest elsewhere = request.of;
  elsewhere.from = site.write("elsewhere.txt", with_cluster_name("elsewhere"));
  CHECK(need(eta(site.session(), elsewhere)).cluster == "elsewhere");
  CHECK(need(eta(site.session(), elsewhere)).calibrated_on == 0);
  // One that knows of later times is not for an earlier queue.
  const std::string key = calibration_key(request.of, "testbed", "fifo");
  CHECK(need(kept_calibration(site.session(), key, before.now)).has_value());
  const auto earlier = kept_calibration(site.session(), key, before.now - Seconds(1));
  REQUIRE(earlier);
  CHECK_FALSE(earlier->has_value());
}

TEST_CASE("what runs now held its GPUs in the past, too") {
  const ClusterSite site;
  REQUIRE(service::import_jobs(site.session(),
                               "sacct:" + site.write("dump.txt", days_of_accounting())));
  const auto past = need(past_of_site(site.session(), of_the_recording().of));
  const auto jobs = eta::ReplayedQueue(past.view()).snapshot_at(past.now).jobs;
  CHECK(jobs.size() == 7);
  std::int64_t busy = 0;
  for (const SnapshotJob& job : jobs) busy += job.started ? job.gpus : 0;
  CHECK(busy == 33);
}

TEST_CASE("a calibration that is damaged is an error, one without a past too") {
  const ClusterSite site;
  const EtaCalibrationRequest request = of_the_recording();
  const auto without = calibrate_eta(site.session(), request);
  REQUIRE_FALSE(without);
  CHECK(without.error().message.contains("history import sacct:FILE"));
  for (const std::string kept :
       {"", "{", "[]", R"({"until": 5})", R"({"until": 5, "forecasts": 7})",
        R"({"until": 5, "forecasts": [[0, true, 1]]})",
        R"({"until": 5, "forecasts": [[9, true, 1, 1, 1, 1, 1, 1, 1, 1]]})"}) {
    CAPTURE(kept);
    const auto history = need(service::open_history(site.session()));
    REQUIRE(history.store->cache({"eta_calibration", "slurm|testbed|fifo", "", kept}, 1 << 20));
    const auto made = eta(site.session(), request.of);
    REQUIRE_FALSE(made);
    CHECK(made.error().message.contains("cannot be read"));
  }
}

}  // namespace
}  // namespace schedmate::queue
