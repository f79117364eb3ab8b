// SPDX-License-Identifier: Apache-2.0
/// The property suite: every policy of the table on seeded random worlds.
#include <doctest/doctest.h>

#include "tests/conformance/properties.hpp"
#include "tests/conformance/subjects.hpp"
#include "tests/support/effort.hpp"

namespace schedmate::conformance {
namespace {

void check_rules(const Subject& subject, std::uint64_t seed, const Defects& defects) {
  CAPTURE(subject.row.name);
  CAPTURE(seed);
  const World world = random_world(seed);
  Prepared prepared = prepare(subject, world, seed, defects);
  const Exceptions exceptions = exceptions_of(prepared.scheduler, defects);
  Watch watch(world, prepared.scheduler, exceptions);
  Progress progress(world);
  const bool exact = !defects.survivor_keeps_rate;
  prepared.options.observer = [&](const SimOptions::Moment& moment) {
    watch.look(moment);
    if (exact) progress.look(moment);
  };
  const SimResult result = replay(world, prepared);
  const Replay done{world, prepared.scheduler, prepared.options, result};
  REQUIRE(watch.complaints() == Complaints());
  for (const std::string& complaint : check_jobs(done, exceptions)) FAIL(complaint);
  if (exact)
    for (const std::string& complaint : check_progress(done, progress)) FAIL(complaint);
  REQUIRE(check_capacity(done, exceptions, watch.shared() ? Cluster::max_sharing : 1) ==
          Complaints());
}

TEST_CASE("every policy keeps the rules in mode repaired, without exception") {
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed)
      check_rules(subject, seed, Defects());
  }
}

TEST_CASE("every policy keeps the rules in mode reference but for the listed exceptions") {
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < testing::cases(150); ++seed)
      check_rules(subject, seed, Defects::reference());
  }
}

TEST_CASE("the worlds make policies preempt, pack and profile" *
          doctest::skip(testing::sanitized)) {
  std::map<std::string_view, int> preempted;
  std::map<std::string_view, int> packed;
  int profiled = 0;
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const World world = random_world(seed);
      for (const JobOutcome& job :
           replay(world, prepare(subject, world, seed, Defects())).outcomes) {
        preempted[subject.row.name] += job.preemptions;
        packed[subject.row.name] += job.packed_at != SimTime() ? 1 : 0;
        profiled += job.profiled ? 1 : 0;
      }
    }
  }
  CHECK(preempted["srtf"] > 100);
  CHECK(preempted["tiresias"] > 10);
  CHECK(preempted["fifo"] == 0);
  CHECK(packed["lucid"] > 50);
  CHECK(packed["fifo"] == 0);
  CHECK(profiled > 500);
}

TEST_CASE("the same seed gives the same result, on one thread or on four") {
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < testing::cases(100); ++seed) {
      CAPTURE(subject.row.name);
      CAPTURE(seed);
      const World world = random_world(seed);
      Prepared prepared = prepare(subject, world, seed, Defects());
      const std::string first = text_of(replay(world, prepared));
      REQUIRE(text_of(replay(world, prepare(subject, world, seed, Defects()))) == first);
      prepared.options.threads = 4;
      REQUIRE(text_of(replay(world, prepared)) == first);
    }
  }
}

/// The world's jobs, all in one VC, so that one policy object sees them all.
World one_vc(std::uint64_t seed) {
  World world = random_world(seed);
  world.cluster.partitions.resize(1);
  world.trace.vcs.resize(1);
  for (Job& job : world.trace.jobs) job.vc = 0;
  return world;
}

TEST_CASE("a copy of a policy shares nothing with the original") {
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < testing::cases(60); ++seed) {
      CAPTURE(subject.row.name);
      CAPTURE(seed);
      const World world = one_vc(seed);
      const Prepared fresh = prepare(subject, world, seed, Defects());
      const std::string expected = text_of(replay(world, fresh));
      Prepared original = prepare(subject, world, seed, Defects());
      Prepared copy = original;
      Policy decide = original.scheduler.decide;
      copy.scheduler.decide = decide;
      // Runs the original itself, not a copy: its state is used up afterwards.
      original.scheduler.decide = [&](const View& view, Plan& plan) { decide(view, plan); };
      REQUIRE(text_of(replay(world, original)) == expected);
      REQUIRE(text_of(replay(world, copy)) == expected);
    }
  }
}

TEST_CASE("a setting that a policy does not know is not found, and its nearest one is named") {
  const World world = random_world(1);
  const auto error_of = [&](std::string_view policy, const std::string& setting) {
    std::map<std::string, std::string, std::less<>> settings{{setting, "1"}};
    const auto made = make_scheduler(policy, {world.cluster, {}, 1, forecast_of(world.trace)},
                                     PolicyOptions(std::move(settings)));
    return made ? Error{ErrorCode::invalid, "made"} : made.error();
  };
  for (const PolicyRow& row : policy_rows()) {
    CAPTURE(row.name);
    const Error error = error_of(row.name, "estimator");
    CHECK(error.code == ErrorCode::not_found);
    CHECK(error.message.find("nearest: estimate;") != std::string::npos);
    CHECK(error.message.find(row.name) != std::string::npos);
  }
  CHECK(error_of("tiresias", "treshold").message.find("nearest: thresholds") != std::string::npos);
  CHECK(error_of("lucid", "packin").message.find("nearest: packing") != std::string::npos);
  CHECK(error_of("lucit", "packing").message.find("nearest: lucid") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::conformance
