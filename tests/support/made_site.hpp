// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A cluster for tests of the live loop: one pool of nodes of 4 GPUs, and jobs that do what the
/// test says. Every kind of action works; what becomes of the next calls can be set.

#include <algorithm>
#include <deque>
#include <schedmate/connector.hpp>
#include <string>
#include <utility>
#include <vector>

namespace schedmate::testing {

class MadeSite final : public Connector {
 public:
  enum class Fate : std::uint8_t {
    done,
    refused,
    lost_before,  ///< it did not arrive, and nobody knows
    lost_after,   ///< it was carried out, and nobody knows
    lies_done,    ///< it was not carried out, and the answer says so
    lies_refused  ///< the other way round
  };

  explicit MadeSite(int nodes) {
    listing_.now = at(1000);
    for (int i = 0; i < nodes; ++i)
      listing_.nodes.push_back({"a-" + std::to_string(i), "a", 4, NodeState::up, ""});
  }

  // What happens in the world.
  SeenJob& submit(const std::string& id, std::int32_t gpus = 4) {
    SeenJob job;
    job.id = id;
    job.submitted = listing_.now;
    job.user = "ann";
    job.partition = "a";
    job.gpus = gpus;
    changed();
    return listing_.jobs.emplace_back(std::move(job));
  }
  void begin(const std::string& id, std::vector<NodeGpus> where) {
    SeenJob& seen = job_of(id);
    seen.phase = JobPhase::running;
    seen.started = listing_.now;
    seen.nodes = std::move(where);
    changed();
  }
  void finish(const std::string& id, EndState how = EndState::completed) {
    SeenJob& seen = job_of(id);
    seen.phase = JobPhase::ended;
    seen.end_state = how;
    seen.ended = listing_.now;
    changed();
  }
  void requeue(const std::string& id) {
    SeenJob& seen = job_of(id);
    seen.phase = JobPhase::queued;
    ++seen.restarts;
    seen.nodes.clear();
    seen.started.reset();
    seen.ended.reset();
    changed();
  }
  void forget(const std::string& id) {
    std::erase_if(listing_.jobs, [&](const SeenJob& each) { return each.id == id; });
    changed();
  }
  /// For whatever else somebody changes.
  SeenJob& change(const std::string& id) {
    changed();
    return job_of(id);
  }
  SeenNode& change_node(const std::string& name) {
    changed();
    return node_of(name);
  }
  void pass(Seconds time) { listing_.now += time; }
  void next(std::initializer_list<Fate> fates) { fates_ = fates; }
  /// Readings fail from now on, or do no more.
  void hide(bool hidden) { hidden_ = hidden; }

  [[nodiscard]] SimTime now() const { return listing_.now; }
  [[nodiscard]] const std::vector<ActionCall>& calls() const { return calls_; }
  [[nodiscard]] const SeenJob& see(const std::string& id) { return job_of(id); }
  [[nodiscard]] const SeenNode& see_node(const std::string& name) { return node_of(name); }
  [[nodiscard]] Listing& listing() { return listing_; }

  Result<Abilities> abilities(Deadline /*within*/) override { return Abilities(); }
  Result<Listing> list(SimTime ended_since, Deadline /*within*/) override {
    if (hidden_) return fail(ErrorCode::unavailable, "no answer");
    Listing shown = listing_;
    shown.ended_since = ended_since;
    std::erase_if(shown.jobs,
                  [&](const SeenJob& each) { return each.ended && *each.ended < ended_since; });
    return shown;
  }
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline /*within*/) override {
    for (const SeenJob& each : listing_.jobs)
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
    for (const SeenJob& each : listing_.jobs)
      if (each.token == token) return each.id;
    return std::nullopt;
  }

 private:
  void changed() { ++listing_.version; }
  SeenJob& job_of(const std::string& id) {
    const auto last = std::find_if(listing_.jobs.rbegin(), listing_.jobs.rend(),
                                   [&](const SeenJob& each) { return each.id == id; });
    return last == listing_.jobs.rend() ? missing_job_ : *last;
  }
  SeenNode& node_of(const std::string& name) {
    const auto found = std::ranges::find(listing_.nodes, name, &SeenNode::name);
    return found == listing_.nodes.end() ? missing_node_ : *found;
  }

  /// Why not; "": done.
  std::string carry_out(const ActionCall& call) {
    changed();
    if (call.kind == ActionKind::submit) {
      submit("new-" + call.token).token = call.token;
      return {};
    }
    if (call.kind == ActionKind::drain_node || call.kind == ActionKind::undrain_node)
      return carry_out(node_of(call.nodes.front().node), call);
    return call.job.empty() ? "" : carry_out(job_of(call.job), call);
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

  Listing listing_;
  std::deque<Fate> fates_;
  std::vector<ActionCall> calls_;
  SeenJob missing_job_;
  SeenNode missing_node_;
  bool hidden_ = false;
};

}  // namespace schedmate::testing
