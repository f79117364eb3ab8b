// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <schedmate/cluster.hpp>
#include <utility>

#include "base/check.hpp"

namespace schedmate {
namespace {

/// The `count` lowest set bits of `mask`.
std::uint64_t lowest(std::uint64_t mask, int count) {
  std::uint64_t rest = mask;
  for (int i = 0; i < count; ++i) rest &= rest - 1;
  return mask & ~rest;
}

template <class Action>
void for_each_bit(std::uint64_t mask, Action action) {
  for (; mask != 0; mask &= mask - 1) action(std::countr_zero(mask));
}

}  // namespace

Cluster::Cluster(const PartitionSpec& spec, Placer placer)
    : gpus_per_node_(spec.gpus_per_node),
      gpu_memory_mib_(static_cast<double>(spec.gpu_memory_mib)),
      placer_(placer) {
  SCHEDMATE_CHECK(gpus_per_node_ >= 1 && gpus_per_node_ <= 64, "1 to 64 GPUs per node");
  by_free_.resize(static_cast<std::size_t>(gpus_per_node_) + 1);
  nodes_with_free_.resize(by_free_.size());
  for (int i = 0; i < spec.nodes; ++i) add_node(static_cast<std::uint32_t>(i));
}

std::uint32_t Cluster::add_node(std::uint32_t label) {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.label = label, .active = true});
  residents_.resize(nodes_.size() * static_cast<std::size_t>(gpus_per_node_));
  for (IndexSet& set : by_free_) set.resize(node + 1);
  open(node);
  return node;
}

void Cluster::remove_node(std::uint32_t node) {
  SCHEDMATE_CHECK(active(node) && jobs_on(node).empty(), "node is idle");
  if (usable(node)) close(node);
  nodes_[node].active = false;
}

void Cluster::set_state(std::uint32_t node, NodeState state) {
  SCHEDMATE_CHECK(active(node), "the node is in use");
  SCHEDMATE_CHECK(state != NodeState::down || jobs_on(node).empty(), "nothing runs on a lost node");
  const bool was_usable = usable(node);
  if (was_usable && state != NodeState::up) close(node);
  nodes_[node].state = state;
  if (!was_usable && state == NodeState::up) open(node);
}

/// From now on jobs may start there.
void Cluster::open(std::uint32_t node) {
  std::uint64_t idle = 0;
  for (int g = 0; g < gpus_per_node_; ++g)
    if (residents(node, g).empty()) idle |= std::uint64_t{1} << g;
  const int free = std::popcount(idle);
  nodes_[node].free = idle;
  by_free_[static_cast<std::size_t>(free)].insert(node);
  ++nodes_with_free_[static_cast<std::size_t>(free)];
  ++nodes_up_;
  total_gpus_ += gpus_per_node_;
  free_gpus_ += free;
  draining_gpus_ -= gpus_per_node_ - free;  // none, on a new node
}

/// From now on none may.
void Cluster::close(std::uint32_t node) {
  const int free = std::popcount(nodes_[node].free);
  nodes_[node].free = 0;
  by_free_[static_cast<std::size_t>(free)].erase(node);
  --nodes_with_free_[static_cast<std::size_t>(free)];
  --nodes_up_;
  total_gpus_ -= gpus_per_node_;
  free_gpus_ -= free;
  draining_gpus_ += gpus_per_node_ - free;
}

void Cluster::describe(std::uint32_t node, NodeSpec spec) {
  if (specs_.size() <= node) specs_.resize(nodes_.size());
  specs_[node] = std::move(spec);
}

const NodeSpec& Cluster::spec(std::uint32_t node) const {
  static const NodeSpec unknown;
  return node < specs_.size() ? specs_[node] : unknown;
}

std::vector<JobId> Cluster::jobs_on(std::uint32_t node) const {
  std::vector<JobId> jobs;
  for (int g = 0; g < gpus_per_node_; ++g)
    for (const JobId job : residents(node, g))
      if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
  return jobs;
}

int Cluster::stranded_gpus() const { return free_gpus_ - nodes_with_free_.back() * gpus_per_node_; }

bool Cluster::find(int gpus, Placement& out) const {
  out.clear();
  if (gpus > free_gpus_) return false;
  return placer_ == Placer::consolidate ? find_consolidated(gpus, out) : find_anywhere(gpus, out);
}

bool Cluster::fits(int gpus) const {
  if (gpus > free_gpus_) return false;
  if (placer_ != Placer::consolidate) return true;
  if (gpus <= gpus_per_node_) {
    for (int k = gpus; k <= gpus_per_node_; ++k) {
      if (nodes_with_free_[static_cast<std::size_t>(k)] > 0) return true;
    }
    return false;
  }
  const int whole = gpus / gpus_per_node_;
  const int rest = gpus % gpus_per_node_;
  if (nodes_with_free_.back() < whole) return false;
  if (rest == 0 || nodes_with_free_.back() > whole) return true;
  for (int k = gpus_per_node_ - 1; k >= rest; --k) {
    if (nodes_with_free_[static_cast<std::size_t>(k)] > 0) return true;
  }
  return false;
}

bool Cluster::find_consolidated(int gpus, Placement& out) const {
  if (!fits(gpus)) return false;
  if (gpus <= gpus_per_node_) {
    std::size_t k = static_cast<std::size_t>(gpus);
    while (nodes_with_free_[k] == 0) ++k;
    const std::uint32_t node = by_free_[k].next(0);
    out.push_back({node, lowest(nodes_[node].free, gpus)});
    return true;
  }
  std::uint32_t node = by_free_.back().next(0);
  for (int left = gpus / gpus_per_node_; left > 0; --left) {
    out.push_back({node, nodes_[node].free});
    node = by_free_.back().next(node + 1);
  }
  const int rest = gpus % gpus_per_node_;
  if (rest == 0) return true;
  for (std::size_t k = by_free_.size() - 2; node == UINT32_MAX; --k) node = by_free_[k].next(0);
  out.push_back({node, lowest(nodes_[node].free, rest)});
  return true;
}

bool Cluster::find_anywhere(int gpus, Placement& out) const {
  const auto take = [&](std::uint32_t node) {
    const int count = std::min(gpus, std::popcount(nodes_[node].free));
    out.push_back({node, lowest(nodes_[node].free, count)});
    gpus -= count;
  };
  if (placer_ == Placer::spread) {
    for (std::size_t k = by_free_.size() - 1; k > 0 && gpus > 0; --k) {
      for (std::uint32_t n = by_free_[k].next(0); n != UINT32_MAX && gpus > 0;
           n = by_free_[k].next(n + 1))
        take(n);
    }
    return true;
  }
  // First fit: the lowest node with anything free, bucket by bucket.
  std::uint32_t from = 0;
  while (gpus > 0) {
    std::uint32_t node = UINT32_MAX;
    for (std::size_t k = 1; k < by_free_.size(); ++k) node = std::min(node, by_free_[k].next(from));
    take(node);
    from = node + 1;
  }
  return true;
}

void Cluster::set_free(std::uint32_t node, std::uint64_t mask) {
  const auto before = static_cast<std::size_t>(std::popcount(nodes_[node].free));
  const auto after = static_cast<std::size_t>(std::popcount(mask));
  nodes_[node].free = mask;
  if (before == after) return;
  by_free_[before].erase(node);
  by_free_[after].insert(node);
  --nodes_with_free_[before];
  ++nodes_with_free_[after];
  free_gpus_ += static_cast<int>(after) - static_cast<int>(before);
}

Cluster::Residents& Cluster::gpu(std::uint32_t node, int g) {
  return residents_[node * static_cast<std::size_t>(gpus_per_node_) + static_cast<std::size_t>(g)];
}

void Cluster::claim(JobId job, Placement where) {
  SCHEDMATE_CHECK(!where.empty(), "a placement names GPUs");
  for (const Slice& slice : where) {
    SCHEDMATE_CHECK(usable(slice.node), "jobs start on nodes that are up");
    for_each_bit(slice.gpus, [&](int g) {
      Residents& here = gpu(slice.node, g);
      SCHEDMATE_CHECK(here.count < max_sharing, "room on the GPU");
      here.jobs[here.count++] = job;
    });
    set_free(slice.node, nodes_[slice.node].free & ~slice.gpus);
  }
  Placement& held = allocations_[job];
  SCHEDMATE_CHECK(held.empty(), "a job holds one placement");
  held = std::move(where);
}

Placement Cluster::release(JobId job) {
  Placement* const held = allocations_.find(job);
  SCHEDMATE_CHECK(held != nullptr, "the job holds GPUs");
  Placement where = std::move(*held);
  allocations_.erase(job);
  for (const Slice& slice : where) {
    std::uint64_t freed = 0;
    for_each_bit(slice.gpus, [&](int g) {
      Residents& here = gpu(slice.node, g);
      const auto end = std::remove(here.jobs.begin(), here.jobs.begin() + here.count, job);
      here.count = static_cast<std::uint8_t>(end - here.jobs.begin());
      if (here.count == 0) freed |= std::uint64_t{1} << g;
    });
    if (usable(slice.node)) {
      set_free(slice.node, nodes_[slice.node].free | freed);
    } else {
      draining_gpus_ -= std::popcount(freed);
    }
  }
  return where;
}

const Placement& Cluster::allocation(JobId job) const {
  static const Placement none;
  const Placement* const held = allocations_.find(job);
  return held == nullptr ? none : *held;
}

std::span<const JobId> Cluster::residents(std::uint32_t node, int g) const {
  const Residents& here =
      residents_[node * static_cast<std::size_t>(gpus_per_node_) + static_cast<std::size_t>(g)];
  return {here.jobs.data(), here.count};
}

}  // namespace schedmate
