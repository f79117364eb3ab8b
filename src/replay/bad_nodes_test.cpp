// SPDX-License-Identifier: Apache-2.0
#include "replay/bad_nodes.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "replay/cluster.hpp"
#include "tests/support/need.hpp"
#include "tests/support/small.hpp"

namespace schedmate::replay {
namespace {

using testing::need;
constexpr Connector::Deadline within{1000};

TEST_CASE("a bad node is named with the seconds of the trace between which it is bad") {
  CHECK(need(read_bad_node("vc-0-3", at(7))) == BadNode{"vc-0-3", SimTime::min(), never});
  CHECK(need(read_bad_node("a-1:30", at(7))) == BadNode{"a-1", at(37), never});
  CHECK(need(read_bad_node("a-1:0:60", at(7))) == BadNode{"a-1", at(7), at(67)});
  for (const char* text : {"", ":1", "a-1:", "a-1:x", "a-1:-1", "a-1:1:", "a-1:5:5", "a-1:9:5",
                           "a-1:1:2:", "a-1:1:2:3", "a-1:99999999999999999999"}) {
    INFO(std::string(text));
    CHECK(!read_bad_node(text, at(7)));
  }
}

/// Two nodes of one GPU, the second of them bad from 50 to 100.
class HalfBadCluster {
 public:
  HalfBadCluster() {
    cluster_.set_bad_nodes({{"vc0-1", at(50), at(100)}});
    to(0);
  }
  void to(std::int64_t now_s) { cluster_.advance(at(now_s)); }
  CallReply call(const ActionCall& call) { return cluster_.call(call, within); }
  void start(const std::string& id, const char* node) {
    ActionCall start{.kind = ActionKind::start, .job = id, .submitted = see(id).submitted};
    start.nodes = {{node, {0}}};
    REQUIRE(call(start).outcome == CallOutcome::done);
  }
  CallOutcome test(const std::vector<NodeGpus>& nodes, const std::string& token) {
    ActionCall test{.kind = ActionKind::test_nodes, .nodes = nodes};
    test.token = token;
    return call(test).outcome;
  }
  SeenJob see(const std::string& id) { return need(cluster_.job(id, within)).value(); }
  SeenJob with(const std::string& token) {
    return see(need(cluster_.find_submission(token, within)).value());
  }
  SimTime next() { return cluster_.next_instant(); }

 private:
  Trace trace_ = testing::small_trace({{.duration_s = 50},
                                       {.duration_s = 51},
                                       {.duration_s = 51},
                                       {.duration_s = 10},
                                       {.duration_s = 10}});
  ReplayCluster cluster_{trace_, testing::small_cluster({2}, 1), {}};
};

// The rows of the trace do not say how they end.
TEST_CASE("what ran on a node while it was bad has failed") {
  HalfBadCluster there;
  there.start("j0", "vc0-1");
  there.start("j1", "vc0-0");
  there.to(50);
  CHECK(there.see("j0").end_state == EndState::unknown);
  there.start("j2", "vc0-1");
  there.to(51);
  CHECK(there.see("j1").end_state == EndState::unknown);
  there.to(101);
  CHECK(there.see("j2").end_state == EndState::failed);
  CHECK(there.see("j2").ended == at(101));
  there.start("j3", "vc0-1");
  there.to(111);
  CHECK(there.see("j3").end_state == EndState::unknown);
}

TEST_CASE("a test of nodes is a job of a minute beside what runs there, and fails with a bad one") {
  HalfBadCluster there;
  there.start("j2", "vc0-0");
  CHECK(there.test({{"vc0-0", {}}, {"vc0-1", {}}}, "both") == CallOutcome::done);
  CHECK(there.test({{"vc0-0", {}}}, "first") == CallOutcome::done);
  CHECK(there.test({{"vc0-2", {}}}, "none") == CallOutcome::refused);
  CHECK(there.test({}, "none") == CallOutcome::refused);
  const SeenJob both = there.with("both");
  CHECK(both.phase == JobPhase::running);
  CHECK(both.gpus == 0);
  CHECK(both.nodes == std::vector<NodeGpus>{{"vc0-0", {}}, {"vc0-1", {}}});
  there.start("j4", "vc0-1");  // its GPU is free
  there.to(52);
  CHECK(there.next() == at(60));
  there.to(60);
  CHECK(there.with("both").ended == at(60));
  CHECK(there.with("both").end_state == EndState::failed);
  CHECK(there.with("first").end_state == EndState::completed);
  CHECK(there.see("j4").end_state == EndState::unknown);
  CHECK(there.test({{"vc0-1", {}}}, "late") == CallOutcome::done);
  there.to(100);
  CHECK(there.test({{"vc0-1", {}}}, "mended") == CallOutcome::done);
  there.to(200);
  CHECK(there.with("late").end_state == EndState::failed);
  CHECK(there.with("mended").end_state == EndState::completed);
}

TEST_CASE("nobody else ends a test, or does anything with its job") {
  HalfBadCluster there;
  REQUIRE(there.test({{"vc0-0", {}}}, "it") == CallOutcome::done);
  const SeenJob test = there.with("it");
  for (const std::int64_t now_s : {1, 1000}) {
    there.to(now_s);
    for (const ActionKind kind : {ActionKind::cancel, ActionKind::evict, ActionKind::start,
                                  ActionKind::hold, ActionKind::set_order}) {
      ActionCall call{.kind = kind, .job = test.id, .submitted = test.submitted};
      call.nodes = {{"vc0-0", {0}}};
      CHECK(there.call(call).outcome == CallOutcome::refused);
    }
  }
  CHECK(there.with("it").end_state == EndState::completed);
}

}  // namespace
}  // namespace schedmate::replay
