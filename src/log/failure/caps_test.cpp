// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <schedmate/recovery.hpp>

namespace schedmate::failure {
namespace {

using Nodes = std::vector<std::string>;

PastFailure past_of(std::int64_t ended_s) {
  PastFailure made;
  made.job_id = "j" + std::to_string(ended_s);
  made.user = "ann";
  made.ended = at(ended_s);
  made.fingerprint = "f";
  made.recommended = Recommendation::restart_same;
  return made;
}

Diagnosis wanted(Recommendation recommendation) {
  Diagnosis made;
  made.fingerprint = "f";
  made.recommendation = recommendation;
  made.advice = "once";
  return made;
}

Diagnosis capped(const std::vector<PastFailure>& past, Diagnosis made,
                 std::optional<double> step = std::nullopt) {
  apply_caps({past, "ann", at(10'000), step}, {}, made);
  return made;
}

}  // namespace

TEST_CASE("the same cause at the same step twice stops the restart") {
  PastFailure before = past_of(1);
  before.same_job = true;
  before.step = 400;
  const auto restart = wanted(Recommendation::restart_same);
  const auto stopped = capped({before}, restart, 400);
  CHECK(stopped.recommendation == Recommendation::do_not_restart);
  CHECK(stopped.advice.contains("same cause at the same step"));
  CHECK(stopped.advice.contains("once"));
  CHECK(capped({before}, restart, 401).recommendation == Recommendation::restart_same);
  CHECK(capped({before}, restart).recommendation == Recommendation::restart_same);  // not known
  before.fingerprint = "g";
  CHECK(capped({before}, restart, 400).recommendation == Recommendation::restart_same);
  before.fingerprint = "f";
  before.same_job = false;
  CHECK(capped({before}, restart, 400).recommendation == Recommendation::restart_same);
}

TEST_CASE("a job is restarted three times") {
  std::vector<PastFailure> past;
  for (int i = 0; i < 3; ++i) {
    CHECK(capped(past, wanted(Recommendation::restart_elsewhere)).recommendation ==
          Recommendation::restart_elsewhere);
    past.push_back(past_of(i));
    past.back().same_job = true;
  }
  CHECK(capped(past, wanted(Recommendation::restart_same)).recommendation ==
        Recommendation::do_not_restart);
  past.back().recommended = Recommendation::notify;  // that was no restart
  CHECK(capped(past, wanted(Recommendation::restart_same)).recommendation ==
        Recommendation::restart_same);
}

TEST_CASE("the jobs of a user are restarted five times an hour") {
  std::vector<PastFailure> past;
  for (int i = 0; i < 5; ++i) past.push_back(past_of(10'000 - i));
  const auto restart = wanted(Recommendation::restart_same);
  CHECK(capped(past, restart).recommendation == Recommendation::notify);
  past[4].ended = at(6401);  // 3,599 s before
  CHECK(capped(past, restart).recommendation == Recommendation::notify);
  past[4].ended = at(6400);
  CHECK(capped(past, restart).recommendation == Recommendation::restart_same);
  past[4].ended = at(10'001);  // later than the job at hand
  CHECK(capped(past, restart).recommendation == Recommendation::restart_same);
  past[4] = past_of(9999);
  past[4].user = "bob";
  CHECK(capped(past, restart).recommendation == Recommendation::restart_same);
}

TEST_CASE("two nodes are given up within an hour, one of them as often as it comes") {
  auto gives_up = [](const char* node, std::int64_t ended_s) {
    PastFailure made = past_of(ended_s);
    made.user = "bob";
    made.recommended = Recommendation::restart_elsewhere;
    made.blamed = {node};
    return made;
  };
  auto restart = wanted(Recommendation::restart_elsewhere);
  restart.nodes = {"n3"};
  CHECK(capped({gives_up("n1", 9000)}, restart).recommendation ==
        Recommendation::restart_elsewhere);
  const auto third = capped({gives_up("n1", 9000), gives_up("n2", 9500)}, restart);
  CHECK(third.recommendation == Recommendation::notify);
  CHECK(third.nodes == Nodes{"n3"});
  CHECK(capped({gives_up("n1", 6400), gives_up("n2", 9500)}, restart).recommendation ==
        Recommendation::restart_elsewhere);
  CHECK(capped({gives_up("n1", 9000), gives_up("n3", 9500)}, restart).recommendation ==
        Recommendation::restart_elsewhere);
}

TEST_CASE("what is no restart is not capped") {
  std::vector<PastFailure> past(9, past_of(9999));
  for (PastFailure& each : past) each.same_job = true;
  for (const auto each :
       {Recommendation::test_first, Recommendation::notify, Recommendation::do_not_restart})
    CHECK(capped(past, wanted(each)).advice == "once");
  for (const char* by : {"scan/preemption", "scan/killed + state PREEMPTED"}) {
    auto preempted = wanted(Recommendation::restart_same);
    preempted.by = by;
    CHECK(capped(past, preempted).advice == "once");
  }
  for (PastFailure& each : past) each.by = "scan/preemption";
  CHECK(capped(past, wanted(Recommendation::restart_same)).advice == "once");
}

TEST_CASE("caps of nothing allow nothing") {
  auto made = wanted(Recommendation::restart_same);
  apply_caps({{}, "ann", at(0), {}}, {.restarts_per_job = 0}, made);
  CHECK(made.recommendation == Recommendation::do_not_restart);
}

TEST_CASE("jobs, users, times and the nodes that all of them had are counted") {
  std::vector<PastFailure> past{past_of(30), past_of(10), past_of(20)};
  past[1].user = "bob";
  past[0].allocation = {"n1", "n12"};
  past[1].allocation = {"n12", "n9"};
  past[2].allocation = {"n12", "n1"};
  const Nodes ours{"n1", "n12"};
  const auto seen = seen_before(past, ours, {"ann", Role::owner});
  REQUIRE(seen);
  CHECK(seen->jobs == 3);
  CHECK(seen->users == 2);
  CHECK(seen->first == at(10));
  CHECK(seen->last == at(30));
  CHECK(seen->nodes == Nodes{"n12"});
  CHECK(seen->job_ids == Nodes{"j30", "j20"});  // not bob's
  CHECK(seen_before(past, ours, {"", Role::cluster_operator})->job_ids ==
        Nodes{"j30", "j10", "j20"});
  CHECK(seen_before(past, ours, {"", Role::owner})->job_ids.empty());
  CHECK(seen_before(past, Nodes{"n1"}, {})->nodes.empty());  // we did not have n12
  past[2].allocation.clear();
  CHECK(seen_before(past, ours, {})->nodes.empty());  // two are too few
  CHECK_FALSE(seen_before({}, ours, {}));
}

}  // namespace schedmate::failure
