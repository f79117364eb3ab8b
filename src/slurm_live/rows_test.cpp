// SPDX-License-Identifier: Apache-2.0
/// On what the tools of Slurm 22.05.8 printed of a small cluster (tests/fixtures/slurm/live_22_05).
#include "slurm_live/rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/input.hpp"
#include "slurm_live/site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::need;

constexpr SimTime then = at(1'795'714'411);

std::string recorded(const std::string& name) {
  return need(read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/live_22_05/" + name));
}

std::vector<Row> rows(const KeptJobs& kept = {}) {
  auto made = need(read_rows(recorded("squeue.json"), kept, then));
  need(add_orders(recorded("sprio.txt"), made));
  return made;
}

const Row& row(const std::vector<Row>& all, const std::string& id) {
  const auto found = std::ranges::find(all, id, [](const Row& each) { return each.seen.id; });
  REQUIRE(found != all.end());
  return *found;
}

/// One job, with the fields that a test is about.
std::string squeue_of(const std::string& fields) {
  return R"({"errors": [], "jobs": [{"job_id": 7, "submit_time": 1000, "user_name": "ann", )"
         R"("partition": "gpu", "node_count": 1, "current_working_directory": "/w", )" +
         fields + "}]}";
}
SeenJob one(const std::string& fields, const KeptJobs& kept = {}) {
  return need(read_rows(squeue_of(fields), kept, at(5000))).at(0).seen;
}

TEST_CASE("a job that runs has its GPUs, folder, command and log, and its name is only data") {
  const auto all = rows();
  const SeenJob& job = row(all, "1").seen;
  CHECK(job.name == "evil\n   UserId=root(0)\n   JobState=FAILED");
  CHECK(job.user == "root");
  CHECK(job.phase == JobPhase::running);
  CHECK(job.partition == "gpu");
  CHECK(job.gpus == 4);
  CHECK(job.nodes == std::vector<NodeGpus>{{"n0", {0, 1, 2, 3}}});
  CHECK(job.submitted == at(1'795'714'405));
  CHECK(job.started == at(1'795'714'406));
  CHECK(!job.ended);
  CHECK(job.limit == Seconds(3600));
  CHECK(job.dir == "/tmp/wsl/w");
  CHECK(job.command == "/tmp/wsl/w/train.sh");
  CHECK(job.output == "/tmp/wsl/w/logs/evil\n   UserId=root(0)\n   JobState=FAILED-1.out");
}

TEST_CASE("tasks of an array keep their ids from the queue to the end") {
  const auto all = rows();
  CHECK(row(all, "2_0").seen.phase == JobPhase::running);
  CHECK(row(all, "2_0").seen.output == "/tmp/wsl/w/2_0-8.out");
  CHECK(row(all, "2_0").seen.nodes == std::vector<NodeGpus>{{"n0", {4, 5}}, {"n1", {0, 1}}});
  CHECK(row(all, "2_0").seen.gpus == 4);
  for (const char* id : {"2_2", "2_3", "2_4"}) CHECK(row(all, id).seen.phase == JobPhase::queued);
  CHECK(std::ranges::count_if(all,
                              [](const Row& each) { return each.seen.id.starts_with("2_"); }) == 5);
}

TEST_CASE("who holds a job, with which mark, and what else its comment says") {
  const auto all = rows();
  const SeenJob& held = row(all, "4").seen;
  CHECK(held.held);
  CHECK(held.mark == "schedmate:main.ab12/7");
  CHECK(held.note == "expected at 10:00");
  CHECK(comment_of(held.mark, held.note) == "schedmate:main.ab12/7\nexpected at 10:00");
  CHECK(!row(all, "3").seen.held);
  // A user's own hold, with a comment that is none of a hold.
  const SeenJob own = one(R"("job_state": "PENDING", "state_reason": "JobHeldUser", "priority": 0,
                            "admin_comment": "schedmate:main.ab12/7")");
  CHECK(own.held);
  CHECK(own.mark.empty());
  CHECK(own.note == "schedmate:main.ab12/7");
}

TEST_CASE("why a job waits is told where that is not just its turn") {
  const auto blocked = [](const std::string& reason) {
    return one(R"("job_state": "PENDING", "priority": 7, "dependency": "afterok:9", )" + reason)
        .blocked;
  };
  const auto depends = blocked(R"("state_reason": "Dependency")");
  REQUIRE(depends);
  CHECK(depends->word == "Dependency");
  CHECK(depends->kind == "dependency");
  CHECK(depends->text == "it waits for other jobs: afterok:9");
  CHECK_FALSE(depends->until);
  CHECK(blocked(R"("state_reason": "QOSMaxGRESPerUser")")->kind == "qos_limit");
  CHECK(blocked(R"("state_reason": "JobHeldUser")")->kind == "held");
  for (const char* const turn : {"None", "Priority", "Resources"})
    CHECK_FALSE(blocked(R"("state_reason": ")" + std::string(turn) + '"'));
  constexpr std::int64_t year_2100 = 4'102'444'800;
  const std::string later = R"("state_reason": "BeginTime", "eligible_time": )";
  CHECK(blocked(later + std::to_string(year_2100))->until == at(year_2100));
  CHECK_FALSE(blocked(later + "1"));
}

TEST_CASE("the order of a job that could start is what sprio shows") {
  const auto all = rows();
  CHECK(row(all, "3").seen.order == 250);
  CHECK(row(all, "3").shows_order);
  CHECK(!row(all, "4").shows_order);
  std::vector<Row> none;
  CHECK(!add_orders("no priority", none));
  CHECK(!add_orders("3|", none));
  CHECK(add_orders("", none));
  CHECK(add_orders("Unable to find jobs matching user/id(s) specified\n", none));
}

TEST_CASE("a priority that somebody has said outright is known as such") {
  const auto with = [](const std::string& sprio) {
    auto made = rows();
    need(add_orders(sprio, made));
    return row(made, "3");
  };
  // As Slurm 22.05 prints a job of Priority=5000, and others.
  const Row fixed = with("3|0|5000|0|0|0|0|0|0|0|\n");
  CHECK(fixed.seen.fixed);
  CHECK(fixed.seen.order == 250);  // as it was before
  CHECK(fixed.shows_order);
  auto ranks = ranks_of({fixed}, then);
  CHECK(ranks.at("3").since == at(0));
  CHECK_FALSE(with("3|250|250|0|0|0|0|0|0|0|\n").seen.fixed);
  CHECK_FALSE(with("3|0|5000|0|0|0|4000|0|0|1000|\n").seen.fixed);
  CHECK_FALSE(with("3|0|1|0|0|0|0|0|0|0|\n").seen.fixed);
  CHECK_FALSE(with("3|0|100|-100|0|0|0|0|0|0|\n").seen.fixed);
  CHECK_FALSE(with("3|0|70|0|0|0|0|0|0|0|cpu=0,gres/gpu=70\n").seen.fixed);
  CHECK_FALSE(with("3|0\n").seen.fixed);
}

TEST_CASE("what Slurm makes of those that wait, without the order that was set") {
  const auto all = rows();
  const auto ranks = ranks_of(all, then);
  const Row& third = row(all, "3");
  REQUIRE(ranks.contains("3"));
  CHECK(ranks.at("3").priority == static_cast<double>(third.priority - 250));
  CHECK(ranks.at("3").when == then);
  CHECK(ranks.at("3").since >= third.seen.submitted);
  for (const Row& each : all)
    CHECK(ranks.contains(each.seen.id) ==
          (each.seen.phase == JobPhase::queued && each.priority > 0));
  CHECK(std::ranges::any_of(all, [](const Row& each) { return each.seen.held; }));
}

TEST_CASE("how jobs ended, and which never ran") {
  const auto all = rows();
  const SeenJob& bad = row(all, "5").seen;
  CHECK(bad.phase == JobPhase::ended);
  CHECK(bad.end_state == EndState::failed);
  CHECK(bad.started == at(1'795'714'409));
  CHECK(bad.ended == at(1'795'714'409));
  CHECK(bad.gpus == 1);
  CHECK(bad.output == "/tmp/wsl/w/slurm-5.out");
  const SeenJob& cancelled = row(all, "6").seen;
  CHECK(cancelled.end_state == EndState::cancelled);
  CHECK(!cancelled.started);
  CHECK(row(all, "7").wanted == std::vector<std::string>{"n3"});
  CHECK(!row(all, "7").may_requeue);
  CHECK(row(all, "1").may_requeue);
}

TEST_CASE("a requeue is the same job, although Slurm gives it another time of submission") {
  const KeptJobs kept{{"7", {.submitted = at(500), .restarts = 0, .order = 9, .nodes = {}}}};
  const SeenJob again = one(R"("job_state": "PENDING", "restart_cnt": 1, "priority": 1)", kept);
  CHECK(again.submitted == at(500));
  CHECK(again.restarts == 1);
  CHECK(again.order == 0);
  // Another job of that id begins with no restart.
  CHECK(one(R"("job_state": "PENDING", "restart_cnt": 0, "priority": 1)", kept).submitted ==
        at(1000));
}

TEST_CASE("while its last run is cleared away a job runs still, or waits again already") {
  const std::string completing = R"("job_state": "COMPLETING", "nodes": "n0", "start_time": 2000,)"
                                 R"( "gres_detail": [], "tres_per_node": "gres:gpu:2", )";
  const KeptJobs kept{{"7", {.submitted = at(1000), .restarts = 0, .nodes = {{"n0", {2, 3}}}}}};
  const SeenJob ends = one(completing + R"("end_time": 4000, "restart_cnt": 0)", kept);
  CHECK(ends.phase == JobPhase::running);
  CHECK(ends.nodes == std::vector<NodeGpus>{{"n0", {2, 3}}});  // as it was read before
  const SeenJob again =
      one(completing + R"("end_time": 90000, "restart_cnt": 1, "priority": 1)", kept);
  CHECK(again.phase == JobPhase::queued);
  CHECK(again.nodes.empty());
  CHECK(!again.started);
}

TEST_CASE("what 25.11 prints is read as what 22.05 does (samples: src/slurm/json_test.cpp)") {
  const auto sample = [](const std::string& name) {
    return need(read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/" + name));
  };
  const auto then_s = at(1'795'617'741);
  const auto old = need(read_rows(sample("squeue_22_05.json"), {}, then_s)),
             fresh = need(read_rows(sample("squeue_25_11.json"), {}, then_s));
  REQUIRE(old.size() == fresh.size());
  for (std::size_t i = 0; i < old.size(); ++i) {
    CAPTURE(old[i].seen.id);
    CHECK(old[i].seen == fresh[i].seen);
    CHECK(old[i].may_requeue == fresh[i].may_requeue);
    CHECK(old[i].is_batch == fresh[i].is_batch);
    CHECK(old[i].priority == fresh[i].priority);
    CHECK(old[i].wanted == fresh[i].wanted);
  }
  CHECK(need(read_nodes(sample("sinfo_22_05.json"))) ==
        need(read_nodes(sample("nodes_25_11.json"))));
}

TEST_CASE("nodes, their states and the reasons of those that take no jobs") {
  const auto nodes = need(read_nodes(recorded("sinfo.json")));
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[0] == SeenNode{"n0", "gpu", 8, NodeState::up, ""});
  CHECK(nodes[2].state == NodeState::drained);
  CHECK(nodes[2].reason == "schedmate:main.ab12/8 Xid 79: \"two\"\n   State=IDLE");
  const auto state = [](const std::string& words) {
    return need(read_nodes(R"({"nodes": [{"name": "n0", "state": )" + words + "}]}")).at(0).state;
  };
  CHECK(state(R"("idle", "state_flags": ["NOT_RESPONDING"])") == NodeState::up);
  CHECK(state(R"("down", "state_flags": ["NOT_RESPONDING"])") == NodeState::down);
  CHECK(state(R"("down", "state_flags": ["DRAIN"])") == NodeState::down);
  CHECK(state(R"(["IDLE", "DRAIN"])") == NodeState::drained);  // from 23.02 on
  CHECK(state(R"("unknown")") == NodeState::up);               // the controller has just begun
}

TEST_CASE("what the site's own prolog or health check took out of service is known by its words") {
  const auto failed_check = [](const std::string& reason, const std::string& state) {
    return need(read_nodes(R"({"nodes": [{"name": "n0", "state": ")" + state + R"(", "reason": ")" +
                           reason + R"("}]})"))
        .at(0)
        .failed_check;
  };
  for (const char* const reason :
       {"Epilog error", "Prolog error", "Prolog/Epilog failure", "NHC: check_nv_healthmon: bad",
        "gres/gpu count reported lower than configured (7 < 8)",
        "gres/gpu count too low (7 < 8)"}) {
    CAPTURE(reason);
    CHECK(failed_check(reason, "DRAINED"));
    CHECK_FALSE(failed_check(reason, "IDLE"));  // it serves again
  }
  for (const char* const reason : {"fan is loud", "schedmate:main.ab12/8 Xid 79", ""}) {
    CAPTURE(reason);
    CHECK_FALSE(failed_check(reason, "DRAINED"));
  }
}

TEST_CASE("what is no answer, or one that says what went wrong, is an error") {
  CHECK(read_rows("", {}, then).error().code == ErrorCode::invalid);
  CHECK(read_rows("slurm_load_jobs error", {}, then).error().code == ErrorCode::invalid);
  CHECK(read_rows(R"({"errors": [], "jobs": [{"job_id": 7)", {}, then).error().code ==
        ErrorCode::invalid);
  const auto away = read_rows(
      R"({"errors": [{"description": "Failed while looking for jobs"}], "jobs": []})", {}, then);
  CHECK(away.error().code == ErrorCode::unavailable);
  CHECK(away.error().message == "Slurm says: Failed while looking for jobs");
  CHECK(need(read_rows(R"({"errors": [], "jobs": []})", {}, then)).empty());
  CHECK(read_nodes(R"({"errors": [], "nodes": []})").error().code == ErrorCode::invalid);
  CHECK(!read_rows(squeue_of(R"("job_state": "RUNNING", "restart_cnt": 0)"), {}, then));
}

TEST_CASE("factors that were not computed yet are none") {
  auto all = need(read_rows(squeue_of(R"("job_state": "PENDING")"), {}, at(5000)));
  need(add_orders("7|-2147483648\n", all));
  CHECK(all.at(0).seen.order == 0);
  CHECK(!all.at(0).shows_order);
  need(add_orders("7|-3\n", all));
  CHECK(all.at(0).seen.order == -3);
}

TEST_CASE("what the site's settings and the user's rights allow") {
  const Site site = need(read_site(recorded("config.txt")));
  CHECK(site.version == "22.05.8");
  CHECK(site.has_factors);
  CHECK(!site.has_accounting);
  CHECK(site.slurm_user == "root");
  CHECK(site.remembers == Seconds(300));
  CHECK(!read_site("slurm_load_ctl_conf error: Unable to contact slurm controller"));
  using enum ActionKind;
  const Abilities all = abilities_of(site, {}, Rights::all, "root");
  for (const ActionKind can :
       {set_order, hold, release, requeue_excluding, drain_node, undrain_node, cancel, annotate})
    CHECK(all.lack(can).empty());
  for (const ActionKind cannot : {start, submit, evict, test_nodes, release_spare, notify})
    CHECK(!all.lack(cannot).empty());
  const Abilities jobs = abilities_of(site, {}, Rights::jobs, "ann");
  for (const ActionKind can : {set_order, requeue_excluding, cancel}) CHECK(jobs.lack(can).empty());
  for (const ActionKind cannot : {drain_node, undrain_node, hold, release, annotate})
    CHECK(jobs.lack(cannot).contains("ann may not change nodes and comments"));
  CHECK(abilities_of(site, {}, Rights::own, "ann").lack(set_order).contains("ann is no operator"));
  Site basic = site;
  basic.has_factors = false;
  CHECK(abilities_of(basic, {}, Rights::all, "root").lack(set_order).contains("priority/basic"));
  CHECK(rights_in("Administrator\n") == Rights::all);
  CHECK(rights_in("Operator\n") == Rights::jobs);
  CHECK(rights_in("None\n") == Rights::own);
  CHECK(rights_in("") == Rights::own);
}

}  // namespace
}  // namespace schedmate::slurm_live
