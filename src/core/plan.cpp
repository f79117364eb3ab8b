// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <schedmate/policy.hpp>
#include <utility>

namespace schedmate {

bool Plan::start(JobId job, int gpus) {
  if (!cluster_.find(gpus, scratch_)) return false;
  cluster_.claim(job, scratch_);
  decisions_.push_back({Decision::Kind::start, job, false});
  return true;
}

void Plan::start_on(JobId job, Placement where) {
  const bool shares = std::ranges::any_of(where, [&](const Slice& slice) {
    return (cluster_.free_mask(slice.node) & slice.gpus) != slice.gpus;
  });
  cluster_.claim(job, std::move(where));
  decisions_.push_back({Decision::Kind::start, job, shares});
}

void Plan::start_with(JobId job, JobId resident) { start_on(job, cluster_.allocation(resident)); }

void Plan::preempt(JobId job) {
  decisions_.push_back({Decision::Kind::preempt, job, false, cluster_.release(job)});
}

void Plan::evict(JobId job) {
  decisions_.push_back({Decision::Kind::evict, job, false, cluster_.release(job)});
}

void Plan::wake_at(SimTime when) { wake_ = std::min(wake_, when); }

std::uint32_t Plan::add_node(std::uint32_t label) {
  node_changes_.emplace_back(now_, 1);
  return cluster_.add_node(label);
}

void Plan::remove_node(std::uint32_t node) {
  cluster_.remove_node(node);
  node_changes_.emplace_back(now_, -1);
}

void Plan::clear(SimTime now) {
  now_ = now;
  wake_ = never;
  decisions_.clear();
  node_changes_.clear();
}

}  // namespace schedmate
