// SPDX-License-Identifier: Apache-2.0

/// Tests of nodes: the site's command, as one job in a reservation that keeps others off them. The
/// reservation's name is that of the action, so that whatever is left of a test is found and
/// removed, also by another process. A node that was drained for a fault is woken for as long as
/// the job takes to start, and drained again while it runs.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "slurm_live/cluster.hpp"
#include "slurm_live/reservations.hpp"

namespace schedmate::slurm_live {
namespace {

constexpr std::chrono::milliseconds pause{100};

/// Noted with the job of a test once its node is drained again: a node that serves from then on was
/// put back by somebody.
constexpr std::string_view drained_again = "drained again";
bool is_settled(const SeenJob& job) { return job.note == drained_again; }

/// As Slurm counts: whole ones.
std::int64_t minutes(Seconds time) { return std::max<std::int64_t>(1, (time.count() + 59) / 60); }

std::string list_of(const std::vector<NodeGpus>& nodes) {
  std::string list;
  for (const NodeGpus& each : nodes) list += (list.empty() ? "" : ",") + each.node;
  return list;
}

/// Why the node cannot be tested; "": it can.
std::string bars_test(const ActionCall& call, const SeenNode& node) {
  if (node.state == NodeState::down) return fmt::format("node {} is down", node.name);
  if (call.text.empty())
    return node.state == NodeState::up ? "" : fmt::format("node {} is drained", node.name);
  if (node.state != NodeState::drained || !carries_mark(node.reason, call.text))
    return fmt::format("node {} does not carry this mark", node.name);
  return call.nodes.size() == 1 ? "" : "nodes that are drained are tested one by one";
}

}  // namespace

CallReply CommandLine::test(const ActionCall& call, Until until) {
  auto nodes = list_nodes(until);
  if (!nodes) return {CallOutcome::unknown, nodes.error().message, {}};
  if (call.nodes.empty()) return refuse("a test is of nodes");
  std::vector<SeenNode> tested;
  for (const NodeGpus& each : call.nodes) {
    const auto found = std::ranges::find(*nodes, each.node, &SeenNode::name);
    if (found == nodes->end()) return refuse("Slurm knows no node " + each.node);
    if (std::string bar = bars_test(call, *found); !bar.empty()) return refuse(std::move(bar));
    tested.push_back(*found);
  }
  CallReply begun = begin_test(call, tested, until);
  if (begun.outcome != CallOutcome::done || call.text.empty()) return begun;
  return wake(call, tested.front(), until);
}

CallReply CommandLine::begin_test(const ActionCall& call, const std::vector<SeenNode>& nodes,
                                  Until until) {
  const std::string name = reservation_of({call.token, call.text});
  if (name.empty()) return refuse("a test has a mark of its own");
  // Longer than it may wait and run; and Slurm removes it where nobody does.
  const std::int64_t length = minutes(2 * care_.test_timeout) + 5;
  look_for_tests_ = readings_after_call;
  CallReply reserved =
      scontrol({"create", "reservation", "ReservationName=" + name, "StartTime=now",
                fmt::format("Duration={}", length), "Flags=MAINT,IGNORE_JOBS,PURGE_COMP=00:05:00",
                "Nodes=" + list_of(call.nodes), "Users=" + user_},
               until);
  if (reserved.outcome != CallOutcome::done) return reserved;
  std::int32_t gpus = std::numeric_limits<std::int32_t>::max();
  for (const SeenNode& node : nodes) gpus = std::min(gpus, node.gpus);
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--reservation=" + name,
                                 "--job-name=schedmate-test",
                                 "--comment=" + call.token,
                                 fmt::format("--nodes={}", call.nodes.size()),
                                 "--ntasks-per-node=1",
                                 "--nodelist=" + list_of(call.nodes),
                                 "--partition=" + nodes.front().partition,
                                 "--exclusive",
                                 "--no-requeue",
                                 fmt::format("--time={}", minutes(care_.test_timeout)),
                                 "--chdir=/",
                                 "--output=/dev/null"};
  if (gpus > 0) words.push_back(fmt::format("--gres=gpu:{}", gpus));
  words.push_back("--wrap=" + care_.test_command);
  CallReply submitted = reply_of(tools_.run(std::move(words), until));
  if (submitted.outcome == CallOutcome::refused)
    (void)scontrol({"delete", "ReservationName=" + name}, until);
  return submitted;
}

Result<std::optional<SeenJob>> CommandLine::test_job(const std::string& token, Until until) const {
  auto rows = read_jobs(until);
  if (!rows) return tl::unexpected(rows.error());
  const auto found = std::ranges::find(*rows, token, [](const Row& row) { return row.seen.token; });
  return found == rows->end() ? std::nullopt : std::optional(std::move(found->seen));
}

/// Nobody else's job can start there meanwhile.
CallReply CommandLine::wake(const ActionCall& call, const SeenNode& node, Until until) const {
  CallReply woken = scontrol({"update", "NodeName=" + node.name, "State=UNDRAIN"}, until);
  if (woken.outcome != CallOutcome::done) return woken;
  std::string job;
  while (job.empty()) {
    const auto seen = test_job(call.token, until);
    if (seen && *seen && (*seen)->phase != JobPhase::queued) job = (*seen)->id;
    if (job.empty() && !tools_.wait(pause, until))
      return {CallOutcome::unknown, "the test has not begun yet", {}};
  }
  CallReply drained =
      scontrol({"update", "NodeName=" + node.name, "State=DRAIN", "Reason=" + node.reason}, until);
  if (drained.outcome != CallOutcome::done) return drained;
  return scontrol({"update", "JobId=" + job, "AdminComment=" + std::string(drained_again)}, until);
}

CallReply CommandLine::end_test(const std::string& token, Deadline within) {
  const Until until = tools_.from_now(within);
  turn_ = Turn::both;
  look_for_tests_ = readings_after_call;
  if (auto known = know_site(until); !known)
    return {CallOutcome::unknown, known.error().message, {}};
  const auto shown = tools_.run({"scontrol", "show", "reservation"}, until);
  const auto kept = shown ? read_reservations(*shown) : tl::unexpected(shown.error());
  if (!kept) return {CallOutcome::unknown, kept.error().message, {}};
  const auto job = test_job(token, until);
  if (!job) return {CallOutcome::unknown, job.error().message, {}};
  if (*job && (*job)->phase != JobPhase::ended)
    if (CallReply ended = reply_of(tools_.run({"scancel", (*job)->id}, until));
        ended.outcome != CallOutcome::done)
      return ended;
  for (const KeptNodes& each : *kept) {
    const auto test = test_of(each.name);
    if (!test || test->token != token) continue;
    const bool is_woken = !test->drain.empty() && !(*job && is_settled(**job));
    const auto nodes = list_nodes(until);
    if (!nodes) return {CallOutcome::unknown, nodes.error().message, {}};
    for (const SeenNode& node : *nodes)
      if (is_woken && node.state == NodeState::up &&
          std::ranges::find(each.nodes, node.name) != each.nodes.end())
        if (CallReply drained = scontrol({"update", "NodeName=" + node.name, "State=DRAIN",
                                          "Reason=" + test->drain + " it was woken for a test"},
                                         until);
            drained.outcome != CallOutcome::done)
          return drained;
    CallReply removed;
    do {  // its job may take a moment to be gone
      removed = scontrol({"delete", "ReservationName=" + each.name}, until);
    } while (removed.outcome == CallOutcome::refused && removed.text.contains("in use") &&
             tools_.wait(pause, until));
    return removed;
  }
  return {CallOutcome::done, {}, {}};
}

/// What is reserved for tests and as spares, as the nodes of the seam: one that is woken for its
/// test takes no other job, and counts as drained.
Result<void> CommandLine::see_reservations(std::vector<SeenNode>& nodes, Until until) {
  const bool has_job = std::ranges::any_of(
      jobs_, [](const SeenJob& job) { return !job.token.empty() && job.phase != JobPhase::ended; });
  if (look_for_tests_ == 0 && tests_.empty() && !has_job && care_.spares.empty()) return {};
  const auto shown = tools_.run({"scontrol", "show", "reservation"}, until);
  if (!shown) return unread(shown.error());
  const auto kept = read_reservations(*shown);
  if (!kept) return tl::unexpected(kept.error());
  tests_.clear();
  for (const SeenJob& job : jobs_)  // one whose reservation is gone waits for ever
    if (!job.token.empty() && job.phase != JobPhase::ended &&
        std::ranges::find(tests_, job.token) == tests_.end())
      tests_.push_back(job.token);
  look_for_tests_ = std::max(look_for_tests_ - 1, 0);
  const auto is_over = [&](const std::string& token) {
    const auto job = std::ranges::find(jobs_, token, &SeenJob::token);
    return job != jobs_.end() && is_settled(*job);
  };
  for (const KeptNodes& each : *kept) {
    const auto test = test_of(each.name);
    if (test && std::ranges::find(tests_, test->token) == tests_.end())
      tests_.push_back(test->token);
    const bool is_woken = test && !test->drain.empty() && !is_over(test->token);
    for (SeenNode& node : nodes) {
      if (std::ranges::find(each.nodes, node.name) == each.nodes.end()) continue;
      node.spare = node.spare || each.name == care_.spares;
      if (!is_woken || node.state != NodeState::up) continue;
      node.state = NodeState::drained;
      const auto before = std::ranges::find(nodes_, node.name, &SeenNode::name);
      const bool knows = before != nodes_.end() && carries_mark(before->reason, test->drain);
      node.reason = knows ? before->reason : test->drain;
    }
  }
  return {};
}

CallReply CommandLine::release_spare(const std::string& node, Until until) const {
  const auto shown = tools_.run({"scontrol", "show", "reservation"}, until);
  const auto kept = shown ? read_reservations(*shown) : tl::unexpected(shown.error());
  if (!kept) return {CallOutcome::unknown, kept.error().message, {}};
  const auto found = std::ranges::find(*kept, care_.spares, &KeptNodes::name);
  if (found == kept->end() || std::ranges::find(found->nodes, node) == found->nodes.end())
    return refuse(fmt::format("node {} is not in the reservation {}", node, care_.spares));
  std::string others;
  for (const std::string& each : found->nodes)
    if (each != node) others += (others.empty() ? "" : ",") + each;
  // There is no reservation without nodes.
  if (others.empty()) return scontrol({"delete", "ReservationName=" + care_.spares}, until);
  return scontrol({"update", "ReservationName=" + care_.spares, "Nodes=" + others}, until);
}

}  // namespace schedmate::slurm_live
