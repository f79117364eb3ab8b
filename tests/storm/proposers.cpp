// SPDX-License-Identifier: Apache-2.0

/// Slow work that has found a reason to act, or thinks so.

#include <algorithm>
#include <array>

#include "tests/storm/people.hpp"

namespace schedmate::storm {

using enum Fault;

live::Area area_of(const ActionCall& call) {
  using enum ActionKind;
  switch (call.kind) {
    case requeue_excluding:
    case drain_node:
    case undrain_node:
    case release_spare:
    case test_nodes:
      return live::Area::recover;
    case evict:
    case start:
      return call.shared_with.empty() ? live::Area::order : live::Area::pack;
    case annotate:
      return live::Area::annotate;
    case notify:
      return live::Area::notify;
    default:
      return live::Area::order;
  }
}

const Listing* People::read_listing() {
  Daemon* const daemon = town_.daemon();
  if (daemon == nullptr || !daemon->listing()) return nullptr;
  constexpr std::size_t most = 20;
  if (read_.empty() || read_.back()->version < daemon->listing()->version)
    read_.push_back(daemon->listing());
  if (read_.size() > most) read_.erase(read_.begin());
  if (!town_.dice.strikes(proposer_late, 0.5)) return read_.back().get();
  return read_[static_cast<std::size_t>(town_.dice.of(proposer_late).below(std::ssize(read_)))]
      .get();
}

live::NodeWitness People::witness(const std::string& source, const std::string& node,
                                  Seconds age) const {
  return {source, node, town_.site.wall() - age, "it says so"};
}

void People::offer(live::Proposal proposal) {
  Daemon* const daemon = town_.daemon();
  if (daemon == nullptr) return;
  proposal.why = {"slow work found it"};
  town_.book.note(town_.timeline.now(), "proposer {} with {} witnesses", text_of(proposal.call),
                  proposal.witnesses.size());
  bool truly_bad = true;
  for (const NodeGpus& each : proposal.call.nodes) {
    const ModelCluster::Node* const node = town_.cluster.find_node(each.node);
    truly_bad = truly_bad && std::ranges::any_of(node->bad, [&](const auto& span) {
                  return span.first <= town_.timeline.now() && town_.timeline.now() <= span.second;
                });
  }
  town_.book.offered.push_back(
      {.wall = town_.site.wall(), .proposal = proposal, .truly_bad = truly_bad});
  daemon->tell(live::Proposed{std::move(proposal)});
}

void People::proposers() {
  propose_bad_nodes();
  propose_lies();
  propose_careless();
  propose_packing();
  constexpr double often = 0.3;
  if (proposers_.uniform() < often) propose_for_job();
  if (town_.dice.strikes(proposer_floods, 0.02))
    for (int i = 0; i < 30; ++i) propose_for_job();
}

void People::propose_bad_nodes() {
  const Millis now = town_.timeline.now();
  for (const ModelCluster::Node& node : town_.cluster.nodes()) {
    if (node.bad.empty() || node.silent || now > node.bad.back().second ||
        proposers_.uniform() > 0.3)
      continue;
    offer({.call = {.kind = ActionKind::drain_node, .nodes = {{node.name, {}}}, .text = "ill"},
           .witnesses = {witness("kernel", node.name), witness("gpu", node.name)}});
  }
}

void People::propose_lies() {
  const auto pick = [&](Fault fault) {
    const auto& nodes = town_.cluster.nodes();
    return nodes[static_cast<std::size_t>(town_.dice.of(fault).below(std::ssize(nodes)))].name;
  };
  live::Proposal lie{
      .call = {.kind = ActionKind::drain_node, .nodes = {{"", {}}}, .text = "said to be ill"}};
  if (town_.dice.strikes(false_witness, 0.2)) {
    const std::string node = pick(false_witness);
    lie.call.nodes.front().node = node;
    lie.witnesses = {witness(liar_, node), witness(liar_, node),
                     witness(liar_ == "gpu" ? "kernel" : "gpu", node + "0")};
    offer(lie);
  }
  if (town_.dice.strikes(old_witness, 0.2)) {
    const std::string node = pick(old_witness);
    lie.call.nodes.front().node = node;
    constexpr std::int64_t jumps = 600;
    const Seconds age =
        town_.witness_age + Seconds(town_.dice.of(old_witness).between(jumps, 10 * jumps));
    lie.witnesses = {witness(liar_, node), witness(liar_ == "gpu" ? "kernel" : "gpu", node, age)};
    offer(lie);
  }
}

void People::propose_for_failed(const SeenJob& job) {
  live::Proposal proposal;
  proposal.call = {.kind = ActionKind::requeue_excluding,
                   .job = job.id,
                   .submitted = job.submitted,
                   .restarts = job.restarts};
  if (!job.nodes.empty() && proposers_.below(2) == 0) {
    const std::string& node = job.nodes.front().node;
    proposal.call.nodes = {{node, {}}};
    const ModelCluster::Node* const truth = town_.cluster.find_node(node);
    const Millis now = town_.timeline.now();
    const bool bad = !truth->bad.empty() && !truth->silent && now <= truth->bad.back().second;
    proposal.witnesses = {witness(liar_, node)};
    if (bad) proposal.witnesses = {witness("kernel", node), witness("gpu", node)};
  }
  offer(std::move(proposal));
}

void People::propose_for_job() {
  using enum ActionKind;
  const Listing* const listing = read_listing();
  if (listing == nullptr || listing->jobs.empty()) return;
  const SeenJob& job =
      listing->jobs[static_cast<std::size_t>(proposers_.below(std::ssize(listing->jobs)))];
  if (job.phase == JobPhase::ended && failed_itself(job.end_state)) return propose_for_failed(job);
  ActionCall call{.job = job.id, .submitted = job.submitted, .restarts = job.restarts};
  constexpr std::array waiting = {set_order, set_order, hold, cancel, annotate, notify, submit};
  constexpr std::array running = {evict, cancel, annotate, notify, test_nodes, release_spare};
  const bool runs = job.phase != JobPhase::queued;
  call.kind = runs ? running.at(static_cast<std::size_t>(proposers_.below(running.size())))
                   : waiting.at(static_cast<std::size_t>(proposers_.below(waiting.size())));
  live::Proposal proposal{.call = call};
  if (call.kind == set_order) {
    proposal.call.order = proposers_.between(-9, 9);
    proposal.before = fmt::format("{}", job.order);
  } else if (call.kind == annotate || call.kind == notify) {
    proposal.call.text = fmt::format("advice {}", proposers_.below(100));
    proposal.before = job.note;
    if (call.kind == notify) proposal.call.user = job.user;
  } else if (call.kind == submit) {
    proposal.call = {.kind = submit, .text = "{}", .user = job.user};
    proposal.call.token = fmt::format("t{}", ++tokens_);
  } else if (call.kind == test_nodes || call.kind == release_spare) {
    const auto& nodes = town_.cluster.nodes();
    const auto index = static_cast<std::size_t>(proposers_.below(std::ssize(nodes)));
    proposal.call = {.kind = call.kind, .nodes = {{nodes[index].name, {}}}};
    for (auto next = index + 1; call.kind == test_nodes && next < nodes.size(); ++next)
      if (nodes[next].partition == nodes[index].partition && proposers_.below(2) == 0)
        proposal.call.nodes.push_back({nodes[next].name, {}});
  }
  offer(std::move(proposal));
}

/// A job that waits may share the GPUs of one that runs.
void People::propose_packing() {
  if (!town_.dice.strikes(proposer_packs, 0.3)) return;
  const Listing* const listing = read_listing();
  if (listing == nullptr) return;
  for (const SeenJob& job : listing->jobs) {
    if (job.phase != JobPhase::queued || job.held) continue;
    const auto other = std::ranges::find_if(listing->jobs, [&](const SeenJob& each) {
      return each.phase == JobPhase::running && each.partition == job.partition &&
             each.gpus == job.gpus;
    });
    if (other == listing->jobs.end()) continue;
    return offer({.call = {.kind = ActionKind::start,
                           .job = job.id,
                           .submitted = job.submitted,
                           .restarts = job.restarts,
                           .nodes = other->nodes,
                           .shared_with = other->id}});
  }
}

/// What no proposer should ask for: it is for the rules of acting to refuse it.
void People::propose_careless() {
  if (!town_.dice.strikes(proposer_careless, 0.1)) return;
  Random& random = town_.dice.of(proposer_careless);
  switch (random.below(3)) {
    case 0:
      for (const ModelCluster::Node& node : town_.cluster.nodes())
        if (!node.drain.empty())
          return offer({.call = {.kind = ActionKind::undrain_node,
                                 .nodes = {{node.name, {}}},
                                 .text = node.drain.substr(0, node.drain.find(' '))}});
      return;
    case 1:
      for (const ModelCluster::Job& job : town_.cluster.jobs())
        if (job.seen.held)
          return offer({.call = {.kind = ActionKind::release,
                                 .job = job.seen.id,
                                 .submitted = job.seen.submitted,
                                 .restarts = job.seen.restarts,
                                 .text = job.seen.mark}});
      return;
    default: {
      const auto& nodes = town_.cluster.nodes();
      const std::string &one = nodes[0].name, &other = nodes[1].name;
      return offer(
          {.call = {.kind = ActionKind::drain_node, .nodes = {{one, {}}, {other, {}}}, .text = "2"},
           .witnesses = {witness("kernel", one), witness("gpu", one)}});
    }
  }
}

}  // namespace schedmate::storm
