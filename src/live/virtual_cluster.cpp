// SPDX-License-Identifier: Apache-2.0
#include "live/virtual_cluster.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/entering_job.hpp"

namespace schedmate::live {

Cluster VirtualCluster::make_cluster(const Setup& setup, const std::vector<Node>& nodes) {
  PartitionSpec spec;
  spec.name = setup.name;
  spec.nodes = static_cast<int>(std::ranges::count_if(
      nodes, [&](const Node& node) { return !setup.spares.contains(node.name); }));
  const auto first = std::ranges::find_if(nodes, [](const Node& node) { return node.gpus > 0; });
  if (first != nodes.end()) spec.gpus_per_node = std::min(first->gpus, 64);
  return {spec, setup.placer};
}

VirtualCluster::VirtualCluster(Setup setup, const std::vector<Node>& nodes)
    : setup_(std::move(setup)),
      cluster_(make_cluster(setup_, nodes)),
      plan_(cluster_, SimTime()),
      policy_(setup_.policy) {
  for (const Node& node : nodes) {
    if (setup_.spares.contains(node.name)) {
      spares_[node.name] = node;
      continue;
    }
    ++own_nodes_;
    node_index_[node.name] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
    if (node.gpus != cluster_.gpus_per_node()) nodes_.back().state = NodeState::down;
    if (nodes_.back().state != NodeState::up)
      cluster_.set_state(node_index_[node.name], nodes_.back().state);
  }
}

void VirtualCluster::restart(const std::vector<Running>& running,
                             const std::vector<Waiting>& waiting, SimTime now) {
  // Plan refers to cluster_, which therefore stays where it is.
  for (const auto& [number, id] : ids_)
    if (!cluster_.allocation(id).empty()) cluster_.release(id);
  give_back_spares();
  beside_.clear();
  policy_ = setup_.policy;
  infos_ = {};
  known_ = {};
  ids_.clear();
  entered_ = 0;
  for (auto* list : {&arrived_, &ended_, &withdrawn_, &adopted_, &tracked_}) list->clear();
  changed_.clear();
  const auto drain = [&](NodeState state) {  // a claim is for nodes that are up
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].state == NodeState::drained) cluster_.set_state(node, state);
  };
  drain(NodeState::up);
  leaves_out_ = lacks_nodes_ = is_outdated_ = false;
  for (const Running& each : running) {
    auto where = placement(each.where);
    const bool crowded = is_crowded(each);
    leaves_out_ = leaves_out_ || crowded;
    lacks_nodes_ = lacks_nodes_ || !where || where->size() < each.where.size();
    if (std::ranges::any_of(each.where,
                            [&](const NodeGpus& node) { return spares_.contains(node.node); }))
      beside_[each.job.number] = each.where;
    if (!where || crowded || ids_.contains(each.job.number)) continue;
    const JobId id = add(each.job, each.advice, now);
    cluster_.claim(id, std::move(*where));
    JobInfo& info = infos_.at(id);
    info.running = true;
    info.run_since = std::min(each.since, now);
    info.alone = each.alone;
    adopted_.push_back(id);
  }
  for (const JobId id : adopted_) see_sharing(cluster_.allocation(id), now);
  drain(NodeState::drained);
  next_call_ = never;
  for (const Waiting& each : waiting) enter(each, now);
  something_happened(now);
}

JobId VirtualCluster::add(const KnownJob& job, const Prediction* advice, SimTime now) {
  const JobId id{entered_++};
  Known& known = known_[id];
  known = {job, std::string(job.id), {}};
  known.job.id = known.id;
  const Prediction prediction = advice != nullptr ? *advice : predict(known.job, now);
  JobInfo& info = infos_[id] = entering_job(known.job, prediction, now);
  if (prediction.use && info.profile == nullptr)
    info.profile = &(known.predicted = profile_of(*prediction.use, setup_.sharing));
  ids_[job.number] = id;
  return id;
}

bool VirtualCluster::enter(const Waiting& entering, SimTime now) {
  const KnownJob& job = entering.job;
  if (ids_.contains(job.number)) return true;
  if (job.gpus < 1 || job.gpus > gpus()) {
    lacks_nodes_ = lacks_nodes_ || job.gpus > 0;
    return false;
  }
  const JobId id = add(job, entering.advice, now);
  infos_.at(id).profiled = entering.measured;
  infos_.at(id).alone = entering.alone;
  arrived_.push_back(id);
  something_happened(now);
  return true;
}

void VirtualCluster::withdraw(std::uint64_t number, SimTime now) {
  const auto found = ids_.find(number);
  if (found == ids_.end()) return;
  const JobId id = found->second;
  if (infos_.at(id).running) return ended(number, now, nullptr);  // its start came to nothing
  ids_.erase(found);
  if (std::erase(arrived_, id) > 0) return drop(id);  // nobody was told of it
  withdrawn_.push_back(id);
  something_happened(now);
}

void VirtualCluster::ended(std::uint64_t number, SimTime now, const FinishedJob* finished) {
  beside_.erase(number);
  const auto found = ids_.find(number);
  if (found != ids_.end()) {
    const JobId id = found->second;
    JobInfo& info = infos_.at(id);
    if (!info.running) {
      withdraw(number, now);
    } else {
      ids_.erase(found);
      info.attained = info.run_time(now);
      info.running = info.sharing = false;
      see_sharing(cluster_.release(id), now);
      is_outdated_ = is_outdated_ || leaves_out_;
      if (std::erase(adopted_, id) > 0)
        drop(id);  // nobody was told of it
      else
        ended_.push_back(id);
      something_happened(now);
    }
  }
  if (finished != nullptr && setup_.estimator) setup_.estimator.learn(*finished);
}

bool VirtualCluster::runs_on(std::uint64_t number, const std::vector<NodeGpus>& where) const {
  const auto found = ids_.find(number);
  if (found == ids_.end() || !infos_.at(found->second).running) return false;
  const std::vector<NodeGpus> here = names(cluster_.allocation(found->second));
  return std::ranges::is_permutation(here, where, [](const NodeGpus& a, const NodeGpus& b) {
    return a.node == b.node &&
           (a.gpus.empty() || b.gpus.empty() || std::ranges::is_permutation(a.gpus, b.gpus));
  });
}

void VirtualCluster::confirm(std::uint64_t number, SimTime since) {
  const auto found = ids_.find(number);
  if (found == ids_.end()) return;
  JobInfo& info = infos_.at(found->second);
  if (info.running) info.run_since = since;
}

void VirtualCluster::see(const Node& node, SimTime now) {
  if (setup_.spares.contains(node.name)) {
    spares_[node.name] = node;
    if (!node_index_.contains(node.name)) return;  // nobody uses it
  }
  const auto [found, fresh] =
      node_index_.try_emplace(node.name, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) {
    ++own_nodes_;
    is_outdated_ = is_outdated_ || lacks_nodes_;
    const std::uint32_t index = cluster_.add_node(found->second);
    found->second = index;
    nodes_.resize(std::max<std::size_t>(nodes_.size(), index + 1));
    nodes_[index] = {node.name, node.gpus, NodeState::up};
  }
  const std::uint32_t index = found->second;
  const NodeState state = node.gpus == cluster_.gpus_per_node() ? node.state : NodeState::down;
  if (nodes_[index].state == state && !fresh) return;
  if (state == NodeState::down)
    for (const JobId id : cluster_.jobs_on(index)) ended(known_.at(id).job.number, now, nullptr);
  nodes_[index] = {node.name, node.gpus, state};
  cluster_.set_state(index, state);
  changed_.push_back(index);
  something_happened(now);
}

void VirtualCluster::lose_others(const std::set<std::string_view>& nodes, SimTime now) {
  const std::vector<Node> known = nodes_;
  for (const Node& node : known)
    if (node.state != NodeState::down && !nodes.contains(node.name))
      see({node.name, node.gpus, NodeState::down}, now);
  for (auto& [name, node] : spares_)
    if (!nodes.contains(name)) node.state = NodeState::down;
}

// Spare nodes ------------------------------------------------------------------------------------

/// What the policy has added and removed.
void VirtualCluster::follow_spares() {
  for (const auto& [name, node] : spares_) {
    const auto found = node_index_.find(name);
    if (found == node_index_.end() || cluster_.active(found->second)) continue;
    nodes_[found->second] = {"", 0, NodeState::down};
    node_index_.erase(found);
  }
  while (nodes_.size() < cluster_.node_end()) bind(static_cast<std::uint32_t>(nodes_.size()));
}

/// To a spare that serves and on which nobody runs; else the policy has a node that is down.
void VirtualCluster::bind(std::uint32_t index) {
  const auto is_free = [&](const auto& spare) {
    const auto& [name, node] = spare;
    const auto holds = [&](const NodeGpus& each) { return each.node == name; };
    return node.state == NodeState::up && node.gpus == cluster_.gpus_per_node() &&
           !node_index_.contains(name) && std::ranges::none_of(beside_, [&](const auto& run) {
             return std::ranges::any_of(run.second, holds);
           });
  };
  const auto spare = std::ranges::find_if(spares_, is_free);
  nodes_.push_back(spare != spares_.end() ? spare->second : Node{"", 0, NodeState::down});
  if (spare != spares_.end())
    node_index_[spare->first] = index;
  else if (cluster_.jobs_on(index).empty())
    cluster_.set_state(index, NodeState::down);
}

/// A policy that begins anew has asked for none. Nothing runs on them, as far as is known here.
void VirtualCluster::give_back_spares() {
  for (const auto& [name, node] : spares_) {
    const auto found = node_index_.find(name);
    if (found == node_index_.end()) continue;
    cluster_.remove_node(found->second);
    nodes_[found->second] = {"", 0, NodeState::down};
    node_index_.erase(found);
  }
}

void VirtualCluster::something_happened(SimTime now) {
  next_call_ = std::min(next_call_, round_up(now, setup_.round));
}

std::vector<VirtualCluster::Decision> VirtualCluster::decide(SimTime now) {
  std::vector<Decision> taken;
  if (next_call_ <= now) next_call_ = round_up(now, setup_.round);  // nobody came earlier
  if (next_call_ > now) return taken;
  next_call_ = never;
  plan_.clear(now);
  policy_({.now = now,
           .arrived = arrived_,
           .ended = ended_,
           .jobs = infos_,
           .cluster = cluster_,
           .preemption = {},
           .nodes = changed_,
           .withdrawn = withdrawn_,
           .adopted = adopted_,
           .tracked = tracked_},
          plan_);
  arrived_.clear();
  tracked_.clear();
  adopted_.clear();
  changed_.clear();
  follow_spares();
  for (const Plan::Decision& decision : plan_.decisions()) take(decision, now, taken);
  if (plan_.wake() != never)
    next_call_ = round_up(std::max(plan_.wake(), now + Seconds(1)), setup_.round);
  forget();
  return taken;
}

void VirtualCluster::take(const Plan::Decision& decision, SimTime now,
                          std::vector<Decision>& taken) {
  using enum Plan::Decision::Kind;
  JobInfo& info = infos_.at(decision.job);
  Decision made{.kind = decision.kind, .job = known_.at(decision.job).job.number};
  if (decision.kind == start) {
    info.running = true;
    info.run_since = now;
    const Placement& where = cluster_.allocation(decision.job);
    made.where = names(where);
    if (decision.shares) {
      for (const JobId other : running_on(where, decision.job))
        made.beside = known_.at(other).job.number;
      see_sharing(where, now);
    }
  } else {
    info.attained = decision.kind == preempt ? info.run_time(now) : Seconds(0);
    info.running = info.sharing = false;
    info.alone = info.alone || decision.kind == evict;
    for (const JobId other : running_on(decision.left, decision.job))
      made.beside = known_.at(other).job.number;
    see_sharing(decision.left, now);
  }
  taken.push_back(std::move(made));
}

std::vector<JobId> VirtualCluster::running_on(const Placement& where, JobId except) const {
  std::vector<JobId> others;
  for (const Slice& slice : where)
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1)
      for (const JobId other : cluster_.residents(slice.node, std::countr_zero(rest)))
        if (other != except && infos_.at(other).running &&
            std::ranges::find(others, other) == others.end())
          others.push_back(other);
  return others;
}

/// Of those on these GPUs.
void VirtualCluster::see_sharing(const Placement& where, SimTime now) {
  constexpr JobId nobody{UINT32_MAX};
  for (const JobId id : running_on(where, nobody)) {
    JobInfo& info = infos_.at(id);
    const bool shares = !running_on(cluster_.allocation(id), id).empty();
    if (std::exchange(info.sharing, shares) == shares) continue;
    info.speed.reset();  // its log is to show it anew
    info.speed_since = now;
  }
}

void VirtualCluster::tell_speed(std::uint64_t number, double speed, SimTime now) {
  const auto found = ids_.find(number);
  if (found == ids_.end() || !infos_.at(found->second).running) return;
  JobInfo& info = infos_.at(found->second);
  info.speed = speed;
  if (!info.sharing) return;
  tracked_.push_back(found->second);
  something_happened(now);
}

void VirtualCluster::drop(JobId id) {
  infos_.erase(id);
  known_.erase(id);
}

void VirtualCluster::forget() {
  for (auto* gone : {&ended_, &withdrawn_}) {
    for (const JobId id : *gone) drop(id);
    gone->clear();
  }
}

std::vector<NodeGpus> VirtualCluster::names(const Placement& where) const {
  std::vector<NodeGpus> named;
  for (const Slice& slice : where) {
    if (nodes_[slice.node].name.empty()) continue;  // that is not there
    NodeGpus& node = named.emplace_back();
    node.node = nodes_[slice.node].name;
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1)
      node.gpus.push_back(std::countr_zero(rest));
  }
  return named;
}

/// Whether others leave it no room on one of its GPUs.
bool VirtualCluster::is_crowded(const Running& running) const {
  const std::int64_t most = setup_.packs ? Cluster::max_sharing : 1;
  const auto is_other = [&](JobId id) {
    const std::uint64_t number = known_.at(id).job.number;
    return number != *running.only_beside || !runs_on(number, running.where);
  };
  return std::ranges::any_of(running.where, [&](const NodeGpus& each) {
    const auto found = node_index_.find(each.node);
    return found != node_index_.end() && std::ranges::any_of(each.gpus, [&](std::int32_t gpu) {
             if (gpu < 0 || gpu >= cluster_.gpus_per_node()) return false;
             const auto residents = cluster_.residents(found->second, gpu);
             return std::ssize(residents) >= most ||
                    (running.only_beside && std::ranges::any_of(residents, is_other));
           });
  });
}

/// Nothing where one of the GPUs is not there, on a node that is down, or full.
std::optional<Placement> VirtualCluster::placement(const std::vector<NodeGpus>& where) const {
  Placement placed;
  for (const NodeGpus& each : where) {
    const auto found = node_index_.find(each.node);
    if (found == node_index_.end()) continue;
    if (each.gpus.empty()) return std::nullopt;
    Slice slice{found->second, 0};
    if (cluster_.state(slice.node) == NodeState::down) return std::nullopt;
    for (const std::int32_t gpu : each.gpus) {
      if (gpu < 0 || gpu >= cluster_.gpus_per_node()) return std::nullopt;
      const std::int64_t most = setup_.packs ? Cluster::max_sharing : 1;
      if (std::ssize(cluster_.residents(slice.node, gpu)) >= most) return std::nullopt;
      slice.gpus |= std::uint64_t{1} << gpu;
    }
    placed.push_back(slice);
  }
  if (placed.empty()) return std::nullopt;
  return placed;
}

}  // namespace schedmate::live
