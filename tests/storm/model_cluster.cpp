// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/model_cluster.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace schedmate::storm {

std::string text_of(const ActionCall& call) {
  std::string text(name_of(call.kind));
  if (!call.job.empty()) text += fmt::format(" {}", call.job);
  for (const NodeGpus& each : call.nodes) {
    text += fmt::format(" {}", each.node);
    if (!each.gpus.empty()) text += fmt::format(":{}", fmt::join(each.gpus, "+"));
  }
  if (!call.shared_with.empty()) text += fmt::format(" beside {}", call.shared_with);
  if (call.kind == ActionKind::set_order) text += fmt::format(" to {}", call.order);
  if (!call.text.empty()) text += fmt::format(" \"{}\"", call.text);
  if (!call.token.empty()) text += fmt::format(" with {}", call.token);
  return text;
}

ModelCluster::ModelCluster(Setup setup, Timeline& timeline, Book& book)
    : setup_(setup), timeline_(timeline), book_(book) {
  for (int i = 0; i < setup_.nodes; ++i)
    nodes_.push_back(
        {.name = fmt::format("n{}", i),
         .partition = fmt::format("p{}", i % setup_.partitions),
         .holders = std::vector<std::vector<std::string>>(static_cast<std::size_t>(setup_.gpus)),
         .drain = {}});
}

ModelCluster::Job* ModelCluster::find(const std::string& id) {
  const auto found = std::ranges::find(jobs_, id, [](const Job& job) { return job.seen.id; });
  return found == jobs_.end() ? nullptr : &*found;
}
ModelCluster::Node* ModelCluster::find_node(const std::string& name) {
  const auto found = std::ranges::find(nodes_, name, &Node::name);
  return found == nodes_.end() ? nullptr : &*found;
}

// Connector --------------------------------------------------------------------------------------

Result<Abilities> ModelCluster::abilities(Deadline /*within*/) { return Abilities(); }

Result<Listing> ModelCluster::list(SimTime ended_since, Deadline /*within*/) {
  if (timeline_.now() < away_until_) return fail(ErrorCode::unavailable, "the controller is away");
  forget();
  Listing listing;
  listing.version = version_;
  listing.now = timeline_.clock();
  listing.ended_since = std::max(ended_since, timeline_.clock() - setup_.remembers);
  for (const Job& job : jobs_)
    if (job.seen.phase != JobPhase::ended || job.seen.ended.value_or(never) >= ended_since)
      listing.jobs.push_back(job.seen);
  for (const Node& node : nodes_) {
    const bool drained = !node.drain.empty();
    const std::string none = node.dead ? "not responding" : "";
    listing.nodes.push_back(
        {node.name, node.partition, static_cast<std::int32_t>(node.holders.size()),
         node.dead ? NodeState::down : (drained ? NodeState::drained : NodeState::up),
         drained ? node.drain : none});
  }
  return listing;
}

Result<std::optional<SeenJob>> ModelCluster::job(const std::string& id, Deadline /*within*/) {
  if (timeline_.now() < away_until_) return fail(ErrorCode::unavailable, "the controller is away");
  const Job* const found = find(id);
  return found == nullptr ? std::nullopt : std::optional(found->seen);
}

Result<std::optional<std::string>> ModelCluster::find_submission(const std::string& token,
                                                                 Deadline /*within*/) {
  if (timeline_.now() < away_until_) return fail(ErrorCode::unavailable, "the controller is away");
  const Job* const found = with_token(token);
  return found == nullptr ? std::nullopt : std::optional(found->seen.id);
}

const ModelCluster::Job* ModelCluster::with_token(const std::string& token) const {
  const auto found = std::ranges::find(jobs_, token, [](const Job& job) { return job.seen.token; });
  return found == jobs_.end() ? nullptr : &*found;
}

CallReply ModelCluster::call(const ActionCall& call, Deadline /*within*/) {
  if (timeline_.now() < away_until_) {
    book_.note(timeline_.now(), "cluster  away: {} does not arrive", text_of(call));
    return {CallOutcome::unknown, "the controller is away", {}};
  }
  Said said = carry_out(call);
  if (said.effective) ++version_;
  book_.note(timeline_.now(), "cluster  {} (action {}): {}", text_of(call), sent_.action,
             said.effective ? "done" : "nothing changed, " + said.refused);
  book_.effects.push_back({.when = timeline_.now(),
                           .sent = sent_.number,
                           .action = sent_.action,
                           .call = call,
                           .effective = said.effective,
                           .before = said.before});
  if (!said.refused.empty()) return {CallOutcome::refused, said.refused, {}};
  return {CallOutcome::done, {}, said.job};
}

ModelCluster::Said ModelCluster::carry_out(const ActionCall& call) {
  using enum ActionKind;
  switch (call.kind) {
    case submit:
      return enter(call);
    case test_nodes:
      return enter_test(call);
    case notify:
    case release_spare:
      return {.effective = true};
    case drain_node:
    case undrain_node: {
      Node* const node = call.nodes.size() == 1 ? find_node(call.nodes.front().node) : nullptr;
      if (node == nullptr) return {.refused = "no such node"};
      return call.kind == drain_node ? drain(*node, call) : undrain(*node, call);
    }
    default:
      break;
  }
  Job* const job = find(call.job);
  if (job == nullptr) return {.refused = "no such job"};
  if (job->seen.submitted != call.submitted) return {.refused = "it is another job by now"};
  return on_job(*job, call);
}

ModelCluster::Said ModelCluster::on_job(Job& job, const ActionCall& call) {
  using enum ActionKind;
  SeenJob& seen = job.seen;
  switch (call.kind) {
    case annotate: {
      Said said{.effective = seen.note != call.text, .before = seen.note};
      seen.note = call.text;
      return said;
    }
    case cancel:
      if (seen.phase == JobPhase::ended) return {.refused = "it has ended"};
      end(job, EndState::cancelled);
      return {.effective = true};
    case evict:
      if (seen.phase != JobPhase::running || seen.restarts != call.restarts)
        return {.refused = "it does not run, or is another attempt"};
      requeue(job);
      return {.effective = true};
    case requeue_excluding:
      if (seen.phase != JobPhase::ended || seen.restarts != call.restarts)
        return {.refused = "it has not ended, or is another attempt"};
      for (const NodeGpus& each : call.nodes) job.not_on.push_back(each.node);
      requeue(job);
      return {.effective = true};
    default:
      if (seen.phase != JobPhase::queued) return {.refused = "it does not wait"};
      return on_waiting(job, call);
  }
}

ModelCluster::Said ModelCluster::on_waiting(Job& job, const ActionCall& call) {
  using enum ActionKind;
  SeenJob& seen = job.seen;
  switch (call.kind) {
    case set_order: {
      Said said{.effective = seen.order != call.order, .before = fmt::format("{}", seen.order)};
      seen.order = call.order;
      return said;
    }
    case hold: {
      if (seen.held && seen.mark == call.text) return {.before = seen.mark};
      if (seen.held) return {.refused = "it is held already"};
      seen.held = true;
      seen.mark = call.text;
      return {.effective = true};
    }
    case release: {
      if (!seen.held) return {.refused = "it is not held"};
      if (!call.text.empty() && seen.mark != call.text)
        return {.refused = "somebody else holds it"};
      seen.held = false;
      return {.effective = true, .before = std::exchange(seen.mark, "")};
    }
    case ActionKind::start:
      return start_now(job, call);
    default:
      return {.refused = "no such operation"};
  }
}

ModelCluster::Said ModelCluster::start_now(Job& job, const ActionCall& call) {
  if (job.seen.restarts != call.restarts) return {.refused = "it is another attempt"};
  if (job.seen.held) return {.refused = "it is held"};
  if (!job.tests.empty()) return {.refused = "a test runs on its own nodes"};
  std::int32_t gpus = 0;
  std::vector<NodeGpus> where = call.nodes;
  for (NodeGpus& each : where) {
    Node* const node = find_node(each.node);
    if (node == nullptr || is_out(*node)) return {.refused = "a node is not in service"};
    if (node->partition != job.seen.partition) return {.refused = "a node of another partition"};
    for (const std::int32_t gpu : each.gpus) {
      if (gpu < 0 || std::cmp_greater_equal(gpu, node->holders.size()))
        return {.refused = "no such GPU"};
      const auto& holders = node->holders[static_cast<std::size_t>(gpu)];
      constexpr std::size_t one = 1;
      if (holders.size() > one || (holders.size() == one && holders.front() != call.shared_with))
        return {.refused = "a GPU is in use"};
    }
    gpus += static_cast<std::int32_t>(each.gpus.size());
  }
  if (gpus != job.seen.gpus) return {.refused = "not as many GPUs as it asks for"};
  begin(job, where);
  return {.effective = true};
}

ModelCluster::Said ModelCluster::drain(Node& node, const ActionCall& call) {
  if (node.drain == call.text) return {.before = node.drain};
  if (is_out(node)) return {.refused = "it is not in service"};
  node.drain = call.text;
  return {.effective = true};
}

ModelCluster::Said ModelCluster::undrain(Node& node, const ActionCall& call) {
  if (node.drain.empty()) return {.refused = "it is not drained"};
  const std::string& mark = call.text;
  const bool carries = mark.empty() || node.drain == mark || node.drain.starts_with(mark + " ");
  if (!carries) return {.refused = "somebody else drained it"};
  return {.effective = true, .before = std::exchange(node.drain, "")};
}

ModelCluster::Said ModelCluster::enter(const ActionCall& call) {
  if (const Job* const job = with_token(call.token); job != nullptr && setup_.tokens_unique)
    return {.job = job->seen.id};
  return {.effective = true,
          .job = submit({.partition = "p0", .user = call.user, .token = call.token})};
}

/// A job on all GPUs of these nodes, which nobody's scheduler has to start.
ModelCluster::Said ModelCluster::enter_test(const ActionCall& call) {
  if (const Job* const job = with_token(call.token); job != nullptr && setup_.tokens_unique)
    return {.job = job->seen.id};
  NewJob test{.user = "root", .token = call.token, .gpus = 0};
  for (const NodeGpus& each : call.nodes) {
    const Node* const node = find_node(each.node);
    if (node == nullptr) return {.refused = "no such node"};
    test.partition = node->partition;
    test.gpus += static_cast<std::int32_t>(node->holders.size());
    test.tests.push_back(each.node);
  }
  return {.effective = true, .job = submit(test)};
}

}  // namespace schedmate::storm
