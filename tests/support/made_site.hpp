// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The made world as a cluster. Every kind of action works; what becomes of the next calls can be
/// set.

#include <algorithm>
#include <deque>
#include <schedmate/connector.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/made_world.hpp"

namespace schedmate::testing {

class MadeSite final : public Connector, public MadeWorld {
 public:
  enum class Fate : std::uint8_t {
    done,
    refused,
    lost_before,  ///< it did not arrive, and nobody knows
    lost_after,   ///< it was carried out, and nobody knows
    lies_done,    ///< it was not carried out, and the answer says so
    lies_refused  ///< the other way round
  };

  explicit MadeSite(int nodes) : MadeWorld(nodes) {}

  std::vector<std::string> bad_pairs{};        ///< nodes that pass alone only
  std::vector<std::string> bad, bad_together;  ///< nodes, for tests
  bool tests_hang = false;
  std::string test_hangs_on{};       ///< of tests with this node and others no end is seen
  std::vector<std::string> tests{};  ///< tokens of those that have left something
  std::optional<SimTime> began{};
  CallReply end_test(const std::string& token, Deadline /*within*/) override {
    ended_tests.push_back(token);
    calls_before_end.push_back(calls_.size());
    if (std::erase(tests, token) > 0) changed();
    return {CallOutcome::done, {}, {}};
  }
  std::vector<std::string> ended_tests{};
  std::vector<std::size_t> calls_before_end{};  ///< of each of them, how many calls came before
  void next(std::initializer_list<Fate> fates) { fates_ = fates; }
  /// Readings fail from now on, or do no more.
  void hide(bool hidden) { hidden_ = hidden; }
  [[nodiscard]] const std::vector<ActionCall>& calls() const { return calls_; }

  Result<Abilities> abilities(Deadline /*within*/) override { return Abilities(); }
  Result<Listing> list(SimTime ended_since, Deadline /*within*/) override {
    if (hidden_) return fail(ErrorCode::unavailable, "no answer");
    Listing shown = listing();
    shown.ended_since = ended_since;
    shown.tests = tests;
    shown.began = began;
    std::erase_if(shown.jobs,
                  [&](const SeenJob& each) { return each.ended && *each.ended < ended_since; });
    return shown;
  }
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline /*within*/) override {
    for (const SeenJob& each : listing().jobs)
      if (each.id == id) return each;
    return std::nullopt;
  }
  CallReply call(const ActionCall& call, Deadline /*within*/) override {
    calls_.push_back(call);
    const Fate fate = fates_.empty() ? Fate::done : fates_.front();
    if (!fates_.empty()) fates_.pop_front();
    using enum Fate;
    const bool arrives = fate == done || fate == lost_after || fate == lies_refused;
    const std::string refusal = arrives ? carry_out(call) : "";
    if (fate == lost_before || fate == lost_after) return {CallOutcome::unknown, "no answer", {}};
    if (fate == refused || fate == lies_refused) return {CallOutcome::refused, "not today", {}};
    if (!refusal.empty()) return {CallOutcome::refused, refusal, {}};
    return {CallOutcome::done, "", {}};
  }
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline /*within*/) override {
    for (const SeenJob& each : listing().jobs)
      if (each.token == token) return each.id;
    return std::nullopt;
  }

 private:
  /// Why not; "": done.
  std::string carry_out(const ActionCall& call) {
    changed();
    if (call.kind == ActionKind::submit) {
      submit("new-" + call.token).token = call.token;
      return {};
    }
    if (call.kind == ActionKind::drain_node || call.kind == ActionKind::undrain_node)
      return carry_out(node_of(call.nodes.front().node), call);
    if (call.kind == ActionKind::test_nodes) test(call);
    if (call.kind == ActionKind::release_spare) node_of(call.nodes.front().node).spare = false;
    return call.job.empty() ? "" : carry_out(job_of(call.job), call);
  }
  /// It has run, and failed if one of these nodes is bad, or all of those that fail together.
  void test(const ActionCall& call) {
    const auto tested = [&](const std::string& node) {
      return std::ranges::find(call.nodes, node, &NodeGpus::node) != call.nodes.end();
    };
    const std::string id = "test-" + std::to_string(listing().version);
    SeenJob& job = submit(id);
    job.token = call.token;
    job.user = "schedmate";
    tests.push_back(call.token);
    begin(id, call.nodes);
    const bool fails = std::ranges::any_of(bad, tested) ||
                       (call.nodes.size() > 1 && std::ranges::any_of(bad_pairs, tested)) ||
                       (!bad_together.empty() && std::ranges::all_of(bad_together, tested));
    const bool hangs =
        tests_hang || (call.nodes.size() > 1 && !test_hangs_on.empty() && tested(test_hangs_on));
    if (!hangs) finish(id, fails ? EndState::failed : EndState::completed);
  }
  static std::string carry_out(SeenNode& node, const ActionCall& call) {
    const bool drains = call.kind == ActionKind::drain_node;
    if (drains && node.state != NodeState::up) return "it is not in service";
    if (!drains && !node.reason.starts_with(call.text)) return "drained by somebody else";
    node.state = drains ? NodeState::drained : NodeState::up;
    node.reason = drains ? call.text : "";
    return {};
  }
  std::string carry_out(SeenJob& job, const ActionCall& call) {
    using enum ActionKind;
    const bool waits = job.phase == JobPhase::queued;
    switch (call.kind) {
      case set_order:
        job.order = call.order;
        return {};
      case annotate:
        job.note = call.text;
        return {};
      case hold:
        if (!waits || job.held) return "it does not wait, or is held";
        job.held = true;
        job.mark = call.text;
        return {};
      case release:
        if (!job.held || !job.mark.starts_with(call.text)) return "held by somebody else";
        job.held = false;
        job.mark.clear();
        return {};
      case start:
        if (!waits || job.held) return "it does not wait";
        begin(job.id, call.nodes);
        return {};
      case evict:
      case requeue_excluding:
        if (waits || job.restarts != call.restarts) return "another attempt";
        requeue(job.id);
        return {};
      case cancel:
        finish(job.id, EndState::cancelled);
        return {};
      default:
        return {};
    }
  }

  std::deque<Fate> fates_;
  std::vector<ActionCall> calls_;
  bool hidden_ = false;
};

}  // namespace schedmate::testing
