// SPDX-License-Identifier: Apache-2.0

/// What changes a Slurm. It is read before, so that a call is about what its action means, and the
/// controller's own no is the last word: Slurm has no call that checks and changes in one.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "slurm_live/cluster.hpp"

namespace schedmate::slurm_live {
namespace {

using enum ActionKind;

/// Why the call makes no sense on the job as it is; "": it does.
std::string wrong_with(const ActionCall& call, const Row& row) {
  const SeenJob& seen = row.seen;
  const std::string job = "job " + call.job;
  if (seen.submitted != call.submitted) return job + " is another one than was meant";
  if (call.kind == requeue_excluding && seen.restarts != call.restarts)
    return fmt::format("{} was started again since ({} restarts, not {})", job, seen.restarts,
                       call.restarts);
  if (call.kind == annotate) return {};
  if (call.kind == cancel || call.kind == requeue_excluding) {
    if (call.kind == cancel && seen.phase == JobPhase::ended) return job + " has ended";
    return {};
  }
  if (seen.phase != JobPhase::queued) return job + " does not wait";
  if (call.kind == set_order && !row.shows_order)
    return job + ": sprio shows no priority of a job that is held or must not start yet";
  if (call.kind == set_order && seen.fixed)
    return job + ": its priority was set outright, and no order would change it";
  if (call.kind == hold && seen.held) return job + " is held already";
  if (call.kind == release && (!seen.held || call.text.empty() || seen.mark != call.text))
    return job + " is not held with this mark";
  return {};
}

/// Why Slurm would not start it elsewhere; "": it would.
std::string bars_requeue(const ActionCall& call, const Row& row) {
  const std::string job = "job " + call.job;
  if (row.seen.phase == JobPhase::queued) return job + " waits already";
  if (!row.is_batch) return job + " is interactive: whoever sits there has to start it again";
  if (!row.may_requeue) return job + " must not be requeued (Requeue=0)";
  const auto asked = std::ranges::find_if(call.nodes, [&](const NodeGpus& node) {
    return std::ranges::find(row.wanted, node.node) != row.wanted.end();
  });
  return asked == call.nodes.end() ? "" : fmt::format("{} asks for {} by name", job, asked->node);
}

}  // namespace

CallReply CommandLine::call(const ActionCall& call, Deadline within) {
  const Until until = tools_.from_now(within);
  turn_ = Turn::both;
  if (auto known = know_site(until); !known)
    return {CallOutcome::unknown, known.error().message, {}};
  if (const std::string& lack = abilities_.lack(call.kind); !lack.empty()) return refuse(lack);
  if (call.kind == test_nodes) return test(call, until);
  if (call.kind == ActionKind::release_spare && call.nodes.size() == 1)
    return release_spare(call.nodes.front().node, until);
  const bool of_node = call.kind == drain_node || call.kind == undrain_node;
  return of_node ? call_node(call, until) : call_job(call, until);
}

CallReply CommandLine::scontrol(std::vector<std::string> words, Until until) const {
  words.insert(words.begin(), "scontrol");
  return reply_of(tools_.run(std::move(words), until));
}

CallReply CommandLine::call_job(const ActionCall& call, Until until) const {
  const auto rows = read_job(call.job, until);
  if (!rows) return {CallOutcome::unknown, rows.error().message, {}};
  const auto row = std::ranges::find(*rows, call.job, [](const Row& each) { return each.seen.id; });
  if (row == rows->end() || call.job.empty()) return refuse("Slurm knows no job " + call.job);
  if (std::string wrong = wrong_with(call, *row); !wrong.empty()) return refuse(std::move(wrong));
  const SeenJob& seen = row->seen;
  const std::string job = "JobId=" + call.job;
  switch (call.kind) {
    case set_order:
      return scontrol({"update", job, fmt::format("SiteFactor={}", call.order)}, until);
    case hold:  // in one request
      return scontrol(
          {"update", job, "Priority=0", "AdminComment=" + comment_of(call.text, seen.note)}, until);
    case release:
      return let_go(*row, until);
    case annotate:
      return scontrol({"update", job, "AdminComment=" + comment_of(seen.mark, call.text)}, until);
    case requeue_excluding:
      return requeue(call, *row, until);
    case cancel:
      return reply_of(tools_.run({"scancel", call.job}, until));
    default:
      return refuse(fmt::format("Slurm has no {}", name_of(call.kind)));
  }
}

/// A mark that stays would make a later hold of an administrator look like this one.
CallReply CommandLine::let_go(const Row& row, Until until) const {
  CallReply released = scontrol({"release", row.seen.id}, until);
  if (released.outcome != CallOutcome::done) return released;
  return scontrol({"update", "JobId=" + row.seen.id, "AdminComment=" + row.seen.note}, until);
}

/// Nodes can be excluded only of a job that waits. One that was requeued waits for a while (the
/// credential of its last run has to expire), so that it does not start in between.
CallReply CommandLine::requeue(const ActionCall& call, const Row& row, Until until) const {
  if (std::string bar = bars_requeue(call, row); !bar.empty()) return refuse(std::move(bar));
  CallReply reply = scontrol({"requeue", call.job}, until);
  if (reply.outcome != CallOutcome::done || call.nodes.empty()) return reply;
  std::string excluded = row.excluded;
  for (const NodeGpus& node : call.nodes) excluded += (excluded.empty() ? "" : ",") + node.node;
  constexpr std::chrono::milliseconds pause{50};
  CallReply exclusion;
  do {
    exclusion = scontrol({"update", "JobId=" + call.job, "ExcNodeList=" + excluded}, until);
  } while (exclusion.outcome == CallOutcome::refused && tools_.wait(pause, until));
  if (exclusion.outcome != CallOutcome::done)
    reply.text = fmt::format("it was requeued, but not kept off {}: {}", excluded, exclusion.text);
  return reply;
}

CallReply CommandLine::call_node(const ActionCall& call, Until until) const {
  const auto nodes = list_nodes(until);
  if (!nodes) return {CallOutcome::unknown, nodes.error().message, {}};
  if (call.nodes.size() != 1) return refuse("nodes are drained one by one");
  const std::string& name = call.nodes.front().node;
  const auto node = std::ranges::find(*nodes, name, &SeenNode::name);
  if (node == nodes->end()) return refuse("Slurm knows no node " + name);
  if (call.kind == drain_node) {
    if (node->state == NodeState::drained)
      return refuse(fmt::format("node {} is drained already: {}", name, node->reason));
    return scontrol({"update", "NodeName=" + name, "State=DRAIN", "Reason=" + call.text}, until);
  }
  if (node->state == NodeState::up || !carries_mark(node->reason, call.text))
    return refuse(fmt::format("node {} does not carry this mark", name));
  return scontrol({"update", "NodeName=" + name, "State=UNDRAIN"}, until);
}

}  // namespace schedmate::slurm_live
