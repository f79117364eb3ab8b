// SPDX-License-Identifier: Apache-2.0
#include "live/shown.hpp"

#include <algorithm>
#include <vector>

#include "live/proposal.hpp"

namespace schedmate::live {
namespace {

template <class Map>
auto find_in(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

bool same_nodes(const std::vector<NodeGpus>& asked, const std::vector<NodeGpus>& has) {
  const auto covers = [&](const NodeGpus& each) {
    return std::ranges::any_of(has, [&](const NodeGpus& other) {
      return other.node == each.node && (each.gpus.empty() || other.gpus.empty() ||
                                         std::ranges::is_permutation(other.gpus, each.gpus));
    });
  };
  return asked.empty() || (asked.size() == has.size() && std::ranges::all_of(asked, covers));
}

Shown shown_start(const ActionCall& call, const SeenJob& job) {
  if (job.restarts != call.restarts) return Shown::other;
  if (job.phase == JobPhase::queued) return Shown::no;
  if (job.phase == JobPhase::ended && !job.started) return Shown::other;
  return same_nodes(call.nodes, job.nodes) ? Shown::yes : Shown::other;
}

Shown shown_hold(const Action& action, const SeenJob& job, const Settings& settings) {
  if (job.phase != JobPhase::queued) return Shown::other;
  if (!job.held) return Shown::no;
  return marked_by(settings, job.mark) == action.id ? Shown::yes : Shown::other;
}

/// What is released carries the mark that the call names.
Shown shown_release(const ActionCall& call, const SeenJob& job) {
  if (job.phase != JobPhase::queued || !job.held) return Shown::yes;
  return job.mark == call.text ? Shown::no : Shown::other;
}

Shown shown_of_job(const Action& action, const SeenJob& job, const Settings& settings) {
  using enum ActionKind;
  const ActionCall& call = action.call;
  const bool again = job.restarts > call.restarts;
  switch (call.kind) {
    case set_order:
      if (job.phase != JobPhase::queued) return Shown::other;
      return job.order == call.order ? Shown::yes : Shown::no;
    case hold:
      return shown_hold(action, job, settings);
    case release:
      return shown_release(call, job);
    case start:
      return shown_start(call, job);
    case evict:
      if (again) return Shown::yes;
      return job.phase == JobPhase::running ? Shown::no : Shown::other;
    case requeue_excluding:
      return again ? Shown::yes : Shown::no;
    case cancel:
      return job.phase == JobPhase::ended ? Shown::yes : Shown::no;
    case annotate:
      return job.note == call.text ? Shown::yes : Shown::no;
    default:
      return Shown::silent;
  }
}

Shown shown_drain(const Action& action, const SeenNode& node, const Settings& settings) {
  if (marked_by(settings, node.reason) == action.id && node.state != NodeState::up)
    return Shown::yes;
  if (node.state == NodeState::drained) return Shown::other;
  return Shown::no;
}

Shown shown_undrain(const ActionCall& call, const SeenNode& node) {
  const bool carries =
      node.reason.starts_with(call.text) &&
      (node.reason.size() == call.text.size() || node.reason[call.text.size()] == ' ');
  if (node.state == NodeState::up) return Shown::yes;
  return carries ? Shown::no : Shown::other;
}

}  // namespace

const SeenJob* Reading::job(const std::string& id) const {
  if (!jobs_) {
    jobs_.emplace(listing_.jobs.size());
    for (const SeenJob& job : listing_.jobs) {
      const SeenJob*& known = (*jobs_)[job.id];  // ids come again
      if (known == nullptr || known->submitted <= job.submitted) known = &job;
    }
  }
  return find_in(*jobs_, id);
}

const SeenNode* Reading::node(const std::string& name) const {
  if (!nodes_) {
    nodes_.emplace(listing_.nodes.size());
    for (const SeenNode& node : listing_.nodes) (*nodes_)[node.name] = &node;
  }
  return find_in(*nodes_, name);
}

const SeenJob* Reading::submitted_with(const std::string& token) const {
  if (!tokens_) {
    tokens_.emplace();
    for (const SeenJob& job : listing_.jobs)
      if (!job.token.empty()) (*tokens_)[job.token] = &job;
  }
  return find_in(*tokens_, token);
}

Shown shown(const Action& action, const Reading& reading, const Settings& settings) {
  using enum ActionKind;
  const ActionCall& call = action.call;
  switch (call.kind) {
    case submit:
      return reading.submitted_with(call.token) != nullptr ? Shown::yes : Shown::no;
    case test_nodes: {
      const SeenJob* const test = reading.submitted_with(call.token);
      if (test == nullptr) return Shown::no;
      return test->phase == JobPhase::ended ? Shown::yes : Shown::begun;
    }
    case notify:
      return Shown::silent;
    case release_spare: {
      const SeenNode* const node =
          call.nodes.empty() ? nullptr : reading.node(call.nodes.front().node);
      if (node == nullptr || action.before != was_spare) return Shown::silent;
      return node->spare ? Shown::no : Shown::yes;
    }
    case drain_node:
    case undrain_node: {
      const SeenNode* node = call.nodes.empty() ? nullptr : reading.node(call.nodes.front().node);
      if (node == nullptr) return Shown::other;
      return call.kind == drain_node ? shown_drain(action, *node, settings)
                                     : shown_undrain(call, *node);
    }
    default: {
      const SeenJob* job = reading.job(call.job);
      if (job == nullptr || job->submitted != call.submitted) return Shown::other;
      return shown_of_job(action, *job, settings);
    }
  }
}

bool still_stands(const Action& action, const Reading& reading, const Settings& settings) {
  return shown(action, reading, settings) == Shown::yes;
}

}  // namespace schedmate::live
