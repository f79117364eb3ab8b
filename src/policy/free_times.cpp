// SPDX-License-Identifier: Apache-2.0
#include "policy/free_times.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace schedmate::policy {

FreeTimes::FreeTimes(const Cluster& idle)
    : together_(idle.placer() == Placer::consolidate),
      gpus_per_node_(idle.gpus_per_node()),
      free_gpus_(0) {
  order_.resize(static_cast<std::size_t>(gpus_per_node_) + 1);
  for (std::uint32_t node = 0; node < idle.node_end(); ++node) follow(idle, node);
}

void FreeTimes::add_nodes(std::uint32_t end) {
  is_up_.resize(end);
  if (!together_) return;
  holds_.resize(end);
  ready_.resize(end * static_cast<std::size_t>(gpus_per_node_), never);
}

/// What runs there is put down again: whether its GPUs will be free one day depends on the node.
void FreeTimes::follow(const Cluster& cluster, std::uint32_t node) {
  if (node >= is_up_.size()) add_nodes(cluster.node_end());
  const bool is_up = cluster.usable(node);
  if (is_up_[node] == is_up) return;
  std::vector<JobId> there;
  runs_.for_each([&](JobId job, const Run& run) {
    bool is_there = false;
    run.for_each_slice([&](const Slice& slice) { is_there = is_there || slice.node == node; });
    if (is_there) there.push_back(job);
  });
  std::vector<Run> runs;
  for (const JobId job : there) runs.push_back(forget(job));
  is_up_[node] = is_up;
  free_gpus_ += is_up ? gpus_per_node_ : -gpus_per_node_;
  for (int gpus = 1; together_ && gpus <= gpus_per_node_; ++gpus) {
    if (auto& order = order_[static_cast<std::size_t>(gpus)]; order && is_up) {
      order->insert({SimTime::min(), node});
    } else if (order) {
      order->erase({ready(node, gpus), node});
    }
    ready_at(node, gpus) = is_up ? SimTime::min() : never;
  }
  for (std::size_t i = 0; i < there.size(); ++i) place(there[i], std::move(runs[i]));
}

SimTime& FreeTimes::ready_at(std::uint32_t node, int gpus) {
  return ready_[node * static_cast<std::size_t>(gpus_per_node_) +
                static_cast<std::size_t>(gpus - 1)];
}

SimTime FreeTimes::ready(std::uint32_t node, int gpus) const {
  return ready_[node * static_cast<std::size_t>(gpus_per_node_) +
                static_cast<std::size_t>(gpus - 1)];
}

void FreeTimes::hold(JobId job, Placement where, SimTime until) {
  Run run{.first = where.front(), .others = {}, .until = until};
  if (where.size() > 1) run.others.assign(where.begin() + 1, where.end());
  place(job, std::move(run));
}

void FreeTimes::place(JobId job, Run run) {
  run.gpus = 0;
  run.for_each_slice([&](const Slice& slice) {
    const int gpus = std::popcount(slice.gpus);
    if (is_up_[slice.node]) run.gpus += gpus;
    if (!together_) return;
    auto& holds = holds_[slice.node];
    const End end{run.until, job, gpus};
    holds.insert(std::ranges::upper_bound(holds, end, std::less<>()), end);
    update(slice.node);
  });
  free_gpus_ -= run.gpus;
  ends_.insert({run.until, job, run.gpus});
  runs_[job] = std::move(run);
}

void FreeTimes::free(JobId job) { forget(job); }

void FreeTimes::expect(JobId job, SimTime until) {
  Run run = forget(job);
  run.until = until;
  place(job, std::move(run));
}

FreeTimes::Run FreeTimes::forget(JobId job) {
  Run run = std::move(runs_.at(job));
  runs_.erase(job);
  ends_.erase({run.until, job, run.gpus});
  free_gpus_ += run.gpus;
  if (!together_) return run;
  run.for_each_slice([&](const Slice& slice) {
    auto& holds = holds_[slice.node];
    holds.erase(std::ranges::find(holds, job, &End::job));
    update(slice.node);
  });
  return run;
}

void FreeTimes::update(std::uint32_t node) {
  if (!is_up_[node]) return;
  int busy = 0;
  for (const End& end : holds_[node]) busy += end.gpus;
  int gpus = 0;
  const auto from_here = [&](int count, SimTime when) {
    for (; count > 0; --count) {
      SimTime& known = ready_at(node, ++gpus);
      if (known == when) continue;
      if (auto& order = order_[static_cast<std::size_t>(gpus)]) {
        order->erase({known, node});
        order->insert({when, node});
      }
      known = when;
    }
  };
  from_here(gpus_per_node_ - busy, SimTime::min());
  for (const End& end : holds_[node]) from_here(end.gpus, end.at);
}

/// A gang on several nodes needs whole ones and one more for its remainder; the whole ones have
/// that many free GPUs too, hence one more node than whole ones.
std::array<FreeTimes::Need, 2> FreeTimes::needs(int gang) const {
  if (gang <= gpus_per_node_) return {{{1, gang}, {1, gang}}};
  const Need whole{gang / gpus_per_node_, gpus_per_node_};
  const int rest = gang % gpus_per_node_;
  return {{whole, rest == 0 ? whole : Need{whole.nodes + 1, rest}}};
}

const FreeTimes::Order& FreeTimes::order(int gpus) {
  auto& order = order_[static_cast<std::size_t>(gpus)];
  if (!order) {
    order.emplace();
    for (std::uint32_t node = 0; node < is_up_.size(); ++node)
      if (is_up_[node]) order->insert({ready(node, gpus), node});
  }
  return *order;
}

SimTime FreeTimes::nth_node(int nodes, int gpus) {
  const Order& by_time = order(gpus);
  if (static_cast<std::size_t>(nodes) > by_time.size()) return never;
  return by_time.at(static_cast<std::size_t>(nodes - 1)).first;
}

SimTime FreeTimes::earliest(int gang) {
  if (together_) {
    const auto [one, other] = needs(gang);
    return std::max(nth_node(one.nodes, one.gpus), nth_node(other.nodes, other.gpus));
  }
  int available = free_gpus_;
  if (available >= gang) return SimTime::min();
  for (const End& end : ends_) {
    available += end.gpus;
    if (available >= gang) return end.at;
  }
  return never;
}

/// Whether this node would have that many free GPUs by then, but not without the taken ones.
bool FreeTimes::loses(const Slice& taken, int gpus, SimTime by) const {
  if (ready(taken.node, gpus) > by) return false;
  const int left = gpus + std::popcount(taken.gpus);
  return left > gpus_per_node_ || ready(taken.node, left) > by;
}

bool FreeTimes::possible(int gang, SimTime by, std::span<const Slice> taken) {
  if (together_) {
    return std::ranges::all_of(needs(gang), [&](const Need& need) {
      const auto lost = std::ranges::count_if(
          taken, [&](const Slice& slice) { return loses(slice, need.gpus, by); });
      return nth_node(need.nodes + static_cast<int>(lost), need.gpus) <= by;
    });
  }
  int available = free_gpus_;
  for (const Slice& slice : taken) available -= std::popcount(slice.gpus);
  for (const End& end : ends_) {
    if (available >= gang || end.at > by) break;
    available += end.gpus;
  }
  return available >= gang;
}

bool FreeTimes::may_outlast(const Reservation& reserved, const Cluster& cluster, int gpus) {
  Placement where;
  return cluster.find(gpus, where) && possible(reserved.gang, reserved.at, where);
}

void FreeTimes::expect_overdue(const View& view) {
  for (const End* end = next_end(); end != nullptr && end->at <= view.now; end = next_end())
    expect(end->job, view.now + std::max(view.now - view.job(end->job).run_since, Seconds(1)));
}

}  // namespace schedmate::policy
