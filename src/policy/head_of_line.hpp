// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strict head of line: serve the queue in a fixed order and stop at the first gang that cannot be
/// placed; nothing overtakes it. What fifo, sjf and qssf share; they differ in the rank alone.

#include <functional>
#include <queue>
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
    queue_.push({rank_(job), small_first_ ? job.gpus : 0, id, job.gpus});
  }
  void serve(Plan& plan) {
    while (!queue_.empty() && (withdrawn_.erase(queue_.top().id) > 0 ||
                               plan.start(queue_.top().id, queue_.top().gpus)))
      queue_.pop();
  }
  [[nodiscard]] bool empty() const { return queue_.empty(); }

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.arrived) enter(view, id);
    withdrawn_.insert(view.withdrawn.begin(), view.withdrawn.end());
    serve(plan);
  }

 private:
  struct Waiting {
    double rank;
    int tie;
    JobId id;
    int gpus;
    bool operator<(const Waiting& other) const {  // std::priority_queue serves the largest
      return std::tie(rank, tie, id) > std::tie(other.rank, other.tie, other.id);
    }
  };
  Rank rank_;
  bool small_first_;
  std::priority_queue<Waiting> queue_;
  std::set<JobId> withdrawn_;  // that are still in it
};

}  // namespace schedmate::policy
