// SPDX-License-Identifier: Apache-2.0
#include "replay/cluster.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/connector_suite.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::replay {
namespace {

using testing::need;
constexpr Connector::Deadline soon{60'000};

/// Four jobs that wait on four nodes of four GPUs.
const Trace& four_jobs() {
  static const Trace trace = testing::small_trace({{.gpus = 2, .duration_s = 100},
                                                   {.gpus = 4, .duration_s = 50},
                                                   {.gpus = 1, .duration_s = 30},
                                                   {.gpus = 3, .duration_s = 10}});
  return trace;
}

ActionCall start_of(ReplayCluster& cluster, const std::string& id, std::vector<NodeGpus> where) {
  const SeenJob seen = need(cluster.job(id, soon)).value();
  ActionCall call{.kind = ActionKind::start, .job = id, .submitted = seen.submitted};
  call.restarts = seen.restarts;
  call.nodes = std::move(where);
  return call;
}

TEST_CASE("a replay keeps what every connector promises") {
  ReplayCluster cluster(four_jobs(), testing::small_cluster({4}, 4), {});
  cluster.advance(at(0));
  testing::check_connector({.connector = cluster, .let_end = [&] { cluster.advance(at(1000)); }});
}

TEST_CASE("time stands still until somebody says so, and a version tells what is new") {
  const Trace trace = testing::small_trace({{.submit_s = 5}, {.submit_s = 9}});
  ReplayCluster cluster(trace, testing::small_cluster({1}), {});
  CHECK(cluster.now() == at(5));
  CHECK(need(cluster.list(SimTime::min(), soon)).jobs.empty());
  CHECK(cluster.next_instant() == at(5));
  cluster.advance(at(5));
  const auto version = need(cluster.list(SimTime::min(), soon)).version;
  CHECK(need(cluster.list(SimTime::min(), soon)).jobs.size() == 1);
  cluster.advance(at(8));
  CHECK(cluster.now() == at(8));
  CHECK(need(cluster.list(SimTime::min(), soon)).version == version);
  cluster.advance(at(7));  // not back
  CHECK(cluster.now() == at(8));
  cluster.advance(at(9));
  CHECK(need(cluster.list(SimTime::min(), soon)).version > version);
}

TEST_CASE("a job runs as long as its row says, from when it was started") {
  ReplayCluster cluster(four_jobs(), testing::small_cluster({1}, 4), {});
  cluster.advance(at(7));
  CHECK(cluster.call(start_of(cluster, "j2", {{"vc0-0", {3}}}), soon).outcome == CallOutcome::done);
  cluster.advance(at(36));
  CHECK(need(cluster.job("j2", soon))->phase == JobPhase::running);
  cluster.advance(at(37));
  const SeenJob ended = need(cluster.job("j2", soon)).value();
  CHECK(ended.phase == JobPhase::ended);
  CHECK(ended.started == at(7));
  CHECK(ended.ended == at(37));
  CHECK(cluster.outcomes().at(2).end == at(37));
}

TEST_CASE("jobs of a virtual cluster start on its own nodes only") {
  const Trace trace = testing::small_trace({{.vc = 0}, {.vc = 1}});
  ReplayCluster cluster(trace, testing::small_cluster({1, 1}), {});
  cluster.advance(at(0));
  CHECK(cluster.call(start_of(cluster, "j1", {{"vc0-0", {0}}}), soon).outcome ==
        CallOutcome::refused);
  CHECK(cluster.call(start_of(cluster, "j1", {{"vc1-0", {0}}}), soon).outcome == CallOutcome::done);
}

TEST_CASE("jobs share GPUs only where the call says with whom") {
  ReplayCluster cluster(four_jobs(), testing::small_cluster({2}, 4), {});
  cluster.advance(at(0));
  CHECK(cluster.call(start_of(cluster, "j0", {{"vc0-0", {0, 1}}}), soon).outcome ==
        CallOutcome::done);
  ActionCall beside = start_of(cluster, "j2", {{"vc0-0", {1}}});
  CHECK(cluster.call(beside, soon).outcome == CallOutcome::refused);
  beside.shared_with = "j1";  // it waits
  CHECK(cluster.call(beside, soon).outcome == CallOutcome::refused);
  beside.shared_with = "j0";
  CHECK(cluster.call(beside, soon).outcome == CallOutcome::done);
}

SeenJob submitted(ReplayCluster& cluster, std::string request) {
  ActionCall call{.kind = ActionKind::submit};
  call.text = std::move(request);
  call.user = "ann";
  const CallReply reply = cluster.call(call, soon);
  REQUIRE(reply.outcome == CallOutcome::done);
  return need(cluster.job(reply.job, soon)).value();
}

TEST_CASE("a submitted job runs as long as its request says, at most until its limit") {
  struct Row {
    const char* request;
    std::int64_t ends_s;
    EndState state;
  };
  for (const Row& row :
       {Row{R"({"run_s": 30, "limit_s": 50})", 30, EndState::completed},
        Row{R"({"run_s": 90, "limit_s": 50})", 50, EndState::timeout},
        Row{R"({"limit_s": 50})", 50, EndState::completed}, Row{"{}", 3600, EndState::completed},
        Row{R"({"run_s": 0})", 0, EndState::completed}}) {
    INFO(std::string(row.request));
    ReplayCluster cluster(four_jobs(), testing::small_cluster({1}, 4), {});
    cluster.advance(at(7));
    const SeenJob seen = submitted(cluster, row.request);
    CHECK(seen.submitted == at(7));
    CHECK(cluster.call(start_of(cluster, seen.id, {{"vc0-0", {3}}}), soon).outcome ==
          CallOutcome::done);
    cluster.advance(at(7000));
    const SeenJob ended = need(cluster.job(seen.id, soon)).value();
    CHECK(ended.ended == at(7 + row.ends_s));
    CHECK(ended.end_state == row.state);
  }
}

TEST_CASE("a submitted job goes to the partition that it names, and has an id of its own") {
  const Trace trace = testing::small_trace({{.vc = 0}, {.vc = 1}, {.submit_s = 100, .vc = 0}});
  ReplayCluster cluster(trace, testing::small_cluster({1, 1}), {});
  cluster.advance(at(10));
  CHECK(submitted(cluster, R"({"partition": "vc1"})").partition == "vc1");
  CHECK(submitted(cluster, "{}").partition == "vc0");
  const SeenJob full =
      submitted(cluster, R"({"dir": "/d", "command": "c", "output": "/o", "name": "n"})");
  CHECK(full.dir + full.command + full.output + full.name + full.user == "/dc/onann");
  ActionCall elsewhere{.kind = ActionKind::submit};
  elsewhere.text = R"({"partition": "vc2"})";
  CHECK(cluster.call(elsewhere, soon).outcome == CallOutcome::refused);
  cluster.advance(at(100));  // what the trace submits later stands behind them
  const Listing listing = need(cluster.list(SimTime::min(), soon));
  REQUIRE(listing.jobs.size() == 6);
  CHECK(std::ranges::is_sorted(listing.jobs, {}, &SeenJob::submitted));
  CHECK(listing.jobs.at(5).id == "j2");
}

}  // namespace
}  // namespace schedmate::replay
