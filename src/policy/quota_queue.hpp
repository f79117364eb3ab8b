// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The preemptive baselines decide in two steps, as released: walk all jobs, running and waiting,
/// in priority order and let each take its GPUs off a quota (a job that does not fit is passed
/// over, smaller ones behind it still get a chance); then stop the running ones that were passed
/// over and start the waiting ones that were taken. srtf and tiresias differ in the key alone.
///
/// Waiting jobs are kept per GPU count, so a walk costs the running jobs plus those it takes, not
/// the whole queue: once a GPU count exceeds the quota its jobs cannot be taken in this walk.

#include <cstdint>
#include <map>
#include <schedmate/policy.hpp>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace schedmate::policy {

class QuotaQueue {
 public:
  /// A key is a whole number or a time in seconds; smaller goes first, ties by order of calls.
  void wait(JobId id, int gpus, double key);
  void run(JobId id, int gpus, double key);
  void remove(JobId id);             ///< from either list
  void rekey(JobId id, double key);  ///< keeps its list and its place among equals
  [[nodiscard]] double key(JobId id) const { return places_.at(id).key; }
  [[nodiscard]] bool running(JobId id) const { return places_.at(id).running; }

  struct Rule {
    double running_offset = 0;   ///< added to the keys of running jobs before they are compared
    bool waiting_first = false;  ///< when keys are equal
  };
  struct Choice {
    std::vector<JobId> start;    ///< waiting jobs that the quota covers, in priority order
    std::vector<JobId> preempt;  ///< running jobs that it does not cover, in priority order
  };
  [[nodiscard]] const Choice& choose(int quota, Rule rule);

 private:
  struct Entry {
    double key;
    std::uint64_t order;
    JobId id;
    int gpus;
    bool operator<(const Entry& other) const {
      return std::tie(key, order) < std::tie(other.key, other.order);
    }
  };
  using Line = std::set<Entry>;
  struct Place {
    double key = 0;
    std::uint64_t order = 0;
    int gpus = 0;
    bool running = false;
  };
  struct Head {
    Line::const_iterator next, end;
    int gpus;
  };
  void put(JobId id, const Place& place);
  Head* best_head(int quota);

  std::vector<Entry> running_;  // sorted; walked whole at every decision, so kept in one piece
  std::map<int, Line> waiting_;
  JobMap<Place> places_;
  std::uint64_t order_ = 0;
  std::vector<Head> heads_;
  Choice choice_;
};

}  // namespace schedmate::policy
