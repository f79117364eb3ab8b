// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strict head of line: serve the queue in a fixed order and stop at the first gang that cannot be
/// placed; nothing overtakes it. What fifo, sjf and qssf share; they differ in the rank alone,
/// which counts among jobs of one JobInfo::order.

#include <map>
#include <schedmate/policy.hpp>
#include <set>
#include <tuple>
#include <vector>

namespace schedmate::policy {

/// Smaller ranks go first; ties by GPU count when `small_first`, then by order of entry.
class HeadOfLine {
 public:
  using Rank = double (*)(const JobInfo&);
  explicit HeadOfLine(Rank rank, bool small_first = false)
      : rank_(rank), small_first_(small_first) {}

  void enter(const View& view, JobId id) {
    const JobInfo& job = view.job(id);
    if (job.order != 0) orders_[id] = job.order;
    queue_.insert(place_of(job, id));
  }
  void serve(Plan& plan) {
    while (!queue_.empty() && plan.start(queue_.begin()->id, queue_.begin()->gpus)) {
      if (queue_.begin()->behind != 0) orders_.erase(queue_.begin()->id);
      queue_.erase(queue_.begin());
    }
  }
  [[nodiscard]] bool empty() const { return queue_.empty(); }

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.arrived) enter(view, id);
    for (const JobId id : view.reordered) {
      leave(view, id);
      enter(view, id);
    }
    for (const JobId id : view.withdrawn) leave(view, id);
    serve(plan);
  }

 private:
  struct Waiting {
    std::int64_t behind;  // minus the order
    double rank;
    int tie;
    JobId id;
    int gpus;
    bool operator<(const Waiting& other) const {
      return std::tie(behind, rank, tie, id) <
             std::tie(other.behind, other.rank, other.tie, other.id);
    }
  };
  /// Under the order that it was put in with.
  [[nodiscard]] Waiting place_of(const JobInfo& job, JobId id) const {
    const auto order = orders_.find(id);
    return {order == orders_.end() ? 0 : -order->second, rank_(job), small_first_ ? job.gpus : 0,
            id, job.gpus};
  }
  void leave(const View& view, JobId id) {
    queue_.erase(place_of(view.job(id), id));
    orders_.erase(id);
  }

  Rank rank_;
  bool small_first_;
  std::set<Waiting> queue_;
  std::map<JobId, std::int64_t> orders_;  // of those that have another one than 0
};

}  // namespace schedmate::policy
