// SPDX-License-Identifier: Apache-2.0
/// Nothing looks ahead: how the jobs go on and end from some moment on changes no decision and no
/// prediction that was made before it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/random.hpp"
#include "tests/conformance/subjects.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::conformance {
namespace {

EndState random_state(Random& random) {
  constexpr std::array states{EndState::completed, EndState::completed, EndState::completed,
                              EndState::failed,    EndState::cancelled, EndState::unknown};
  return states[static_cast<std::size_t>(random.below(std::ssize(states)))];
}

/// Users who submit the same over and over, for three days, to 2 VCs that are often full.
World busy_world(std::uint64_t seed) {
  Random random(mix(seed) ^ 0xb);
  std::vector<testing::SmallJob> jobs;
  std::int64_t now_s = 0;
  for (int i = 0; i < 220; ++i) {
    now_s += random.below(random.below(20) == 0 ? 15'000 : 1000);
    const std::int64_t user = random.below(5);
    jobs.push_back({.submit_s = now_s,
                    .gpus = 1 << ((user + random.below(2)) % 5),
                    .duration_s = (1 << random.below(3)) * (200 + 700 * user) + random.below(60),
                    .vc = static_cast<std::uint32_t>(user % 2),
                    .user = static_cast<std::uint32_t>(user)});
  }
  World world{testing::small_trace(jobs), testing::small_cluster({2, 2})};
  for (Job& job : world.trace.jobs) {
    job.state = random_state(random);
    world.trace.columns["estimate_s"].push_back(static_cast<double>(random.between(60, 9000)));
  }
  return world;
}

/// A policy with its estimator, on a workload made of this trace.
struct Arm {
  std::string policy;
  Settings settings{};
  std::string estimate;  ///< of the host
  TemplateCut cut = TemplateCut::by_gap;
};

/// What a replay decided and predicted before `until`.
struct Past {
  explicit Past(SimTime moment) : until(moment) {}

  SimTime until;
  std::string text;
  std::set<std::uint32_t> ran;  ///< rows that had run by then, in a VC or in the profiler
  int predicted = 0;            ///< predictions with an answer

  void look(const SimOptions::Moment& moment) {
    if (moment.now >= until) return;
    text += fmt::format("{} {}:", moment.vc, seconds_of(moment.now));
    moment.standing.for_each([&](JobId id, const JobStanding& standing) {
      if (standing.phase != JobPhase::running) return;
      ran.insert(standing.row);
      text += fmt::format(" {}", moment.jobs.at(id).id);
      for (const Slice& slice : moment.cluster.allocation(id))
        text += fmt::format("@{}:{:x}", slice.node, slice.gpus);
    });
    text += '\n';
  }
  void note(const EnteringJob& at, const Prediction& prediction) {
    if (at.now >= until) return;
    predicted += prediction.blind ? 0 : 1;
    text += fmt::format("{} at {}: {:a} {:a} {:a} {:a} {} {}", at.job.id, seconds_of(at.now),
                        prediction.run_time.count(),
                        (prediction.distribution ? prediction.distribution->p10.count() : 0),
                        prediction.expected.count(), prediction.advised, prediction.blind,
                        prediction.source);
    if (prediction.use)
      text += fmt::format(" {:a} {:a}", prediction.use->gpu_util_pct, prediction.use->memory_mib);
    text += '\n';
  }
};

SimResult replay(World& world, const Arm& arm, std::uint64_t seed, Past& past) {
  const std::string data = SCHEDMATE_SOURCE_DIR "/data/";
  static const Recipe recipe = testing::need(read_recipe(data + "recipes/light.toml"));
  static const auto interference = testing::need(read_interference(data + "interference.toml"));
  static const auto errors = testing::need(read_extraction_errors(data + "extraction_errors.toml"));
  WorkloadOptions options;
  options.cut = arm.cut;
  const Workload workload =
      testing::need(make_workload(world.trace, {recipe, interference, errors}, options));
  for (std::size_t row = 0; row < world.trace.jobs.size(); ++row)
    world.trace.jobs[row].profile = workload.profile_of_row[row];
  world.trace.packing = workload.tables;
  Prepared prepared{
      testing::need(make_scheduler(arm.policy, {world.cluster, {}, seed, forecast_of(world.trace)},
                                   PolicyOptions(arm.settings))),
      {}};
  prepared.options.estimator = watched(
      testing::need(make_estimator(prepared.scheduler, arm.estimate,
                                   testing::replay_input(world.trace, seed, &workload))),
      [&past](const EnteringJob& at, const Prediction& prediction) { past.note(at, prediction); });
  prepared.options.observer = [&](const SimOptions::Moment& moment) { past.look(moment); };
  if (seed % 2 == 1) prepared.options.costs.failures = frequent_failures();
  return replay(world, prepared);
}

/// Who had not run by then gets any duration and end; who ran still runs on, for longer.
void redraw_rest(World& world, const Past& past, const SimResult& result, std::uint64_t seed) {
  Random random(mix(seed) ^ 0xf);
  for (std::uint32_t row = 0; row < world.trace.jobs.size(); ++row) {
    Job& job = world.trace.jobs[row];
    const bool ran = past.ran.contains(row);
    if (ran && result.outcomes[row].end <= past.until) continue;
    job.duration = (ran ? job.duration : Seconds(0)) + Seconds(random.below(20'000));
    job.state = random_state(random);
  }
}

struct Trial {
  bool same = true;   ///< before the moment
  int predicted = 0;  ///< of the jobs that entered before it
  int changed = 0;    ///< jobs that, redrawn, start or wait between start and end otherwise
};

Trial try_out(const Arm& arm, std::uint64_t seed) {
  World world = busy_world(seed);
  Random random(mix(seed));
  const SimTime until = world.trace.jobs[static_cast<std::size_t>(random.between(90, 180))].submit +
                        Seconds(random.below(1000));
  Past past(until);
  const SimResult first = replay(world, arm, seed, past);
  World other = busy_world(seed);
  redraw_rest(other, past, first, seed);
  Past redrawn(until);
  const SimResult second = replay(other, arm, seed, redrawn);
  Trial trial{.same = redrawn.text == past.text, .predicted = past.predicted};
  for (std::size_t row = 0; row < first.outcomes.size(); ++row) {
    const SimTime start = first.outcomes[row].start;
    const SimTime other_start = second.outcomes[row].start;
    // A policy that preempts may start everybody at once.
    const SimTime would_start = first.outcomes[row].end - world.trace.jobs[row].duration;
    const SimTime other_would = second.outcomes[row].end - other.trace.jobs[row].duration;
    trial.changed += start != other_start || would_start != other_would ? 1 : 0;
    if (start == other_start) continue;
    if (std::min(start, other_start) < until) trial.same = false;
  }
  return trial;
}

constexpr std::uint64_t trials = std::max<std::uint64_t>(1, testing::cases(4));

void check_blind_to_the_future(const Arm& arm) {
  CAPTURE(arm.policy);
  CAPTURE(arm.estimate);
  Trial sum;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    CAPTURE(seed);
    const Trial trial = try_out(arm, seed);
    REQUIRE(trial.same);
    sum.predicted += trial.predicted;
    sum.changed += trial.changed;
  }
  CHECK(sum.predicted > trials * 5);
  CHECK(sum.changed > trials * 10);
}

/// Those who are given a job's own duration, each as its name or its row says.
constexpr std::array<std::string_view, 4> oracles{"oracle", "noisy_oracle", "limit",
                                                  "advisor_oracle"};

TEST_CASE("no estimator but the oracles says more when the future is another") {
  for (const EstimatorRow& row : estimator_rows()) {
    if (std::ranges::find(oracles, row.name) != oracles.end()) continue;
    const std::string spec = std::string(row.name) + (row.name == "column" ? ":estimate_s" : "");
    check_blind_to_the_future({"schedmate", {}, spec});
  }
}

TEST_CASE(
    "no policy, with the real Advisor or without, decides otherwise when the future is another") {
  for (const PolicyRow& row : policy_rows()) {
    check_blind_to_the_future({std::string(row.name), {}, "column:estimate_s"});
    if (row.preset.empty()) continue;
    // All that the Advisor says counts.
    check_blind_to_the_future({std::string(row.name), {{"shrink", "false"}}, "last_k"});
  }
}

TEST_CASE("an oracle does look ahead, and so do templates that are cut by duration") {
  const auto looks_ahead = [](const Arm& arm) {
    for (std::uint64_t seed = 0; seed < trials; ++seed)
      if (!try_out(arm, seed).same) return true;
    return false;
  };
  for (const std::string_view oracle : oracles)
    CHECK(looks_ahead({"schedmate", {}, std::string(oracle)}));
  CHECK(looks_ahead({"schedmate", {}, "oracle_retrieval", TemplateCut::by_duration}));
}

}  // namespace
}  // namespace schedmate::conformance
