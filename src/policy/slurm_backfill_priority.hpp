// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The waiting jobs in the order of Slurm's priority/multifactor plugin: a weighted sum of factors
/// between 0 and 1, cut to a whole number; then submission, then entry. As there, priorities are
/// kept and made again only every calculation period. Factors:
/// - age: time since submission / max_age, at most 1;
/// - job size: the mean of the job's share of the nodes and of the GPUs of the VC, or with
///   favor_small one minus that;
/// - fairshare, classic: 2^-(used / due). Used is the user's part of all GPU time used so far,
///   of which half is forgotten every half_life; due is one over the users seen so far. 1 for a
///   user who has used nothing;
/// - shortness (ours, for slurm_backfill+sm): 1 for a job that is expected to last a minute or
/// less,
///   falling with the logarithm to 0 at a week; 1/2 without advice.

#include <compare>
#include <map>
#include <schedmate/policy.hpp>
#include <set>
#include <vector>

namespace schedmate::policy {

struct MultifactorWeights {
  std::int64_t age = 1000;  ///< the weights of the example in Slurm's documentation
  std::int64_t job_size = 1000;
  std::int64_t fairshare = 10'000;
  std::int64_t shortness = 0;
  bool favor_small = false;
  Seconds max_age{7 * 86'400};
  Seconds half_life{7 * 86'400};  ///< 0 = nothing is forgotten
  Seconds calc_period{300};       ///< at multiples of it on the trace's clock
};

class MultifactorQueue {
 public:
  explicit MultifactorQueue(const MultifactorWeights& weights) : weights_(weights) {}

  /// Makes the priorities again if a calculation was due since the last call; true if it may have
  /// changed the order. Comes before what else happens at that instant.
  bool calculate(const View& view);
  /// The next calculation that may change the order; never if none can.
  [[nodiscard]] SimTime next_calculation(SimTime now) const;

  void push(const View& view, JobId id);
  void remove(JobId id);
  /// Runs already; what its user used before this run is not known.
  void adopt(const View& view, JobId id);
  void started(const View& view, JobId id) { use(view, id, view.job(id).gpus); }
  void ended(const View& view, JobId id) { use(view, id, -view.job(id).gpus); }

  struct Entry {
    std::uint32_t priority = 0;
    SimTime submit;
    JobId job{};
    auto operator<=>(const Entry& other) const {
      if (const auto order = other.priority <=> priority; order != 0) return order;
      if (const auto order = submit <=> other.submit; order != 0) return order;
      return job <=> other.job;
    }
    bool operator==(const Entry&) const = default;
  };
  /// The first is to start first.
  [[nodiscard]] const std::set<Entry>& order() const { return order_; }

 private:
  struct User {
    double used_gpu_s = 0;  // as of `known`, what is forgotten left out
    SimTime known;
    int gpus = 0;  // in use since
    double fairshare = 1;
  };
  [[nodiscard]] std::uint32_t priority(const View& view, JobId id, SimTime when) const;
  void use(const View& view, JobId id, int gpus);
  void settle(User& user, SimTime when) const;
  void share_out(SimTime when);

  MultifactorWeights weights_;
  std::set<Entry> order_;
  JobMap<Entry> entries_;  // what order_ holds
  std::map<std::uint32_t, User> users_;
  SimTime next_ = SimTime::min();
};

}  // namespace schedmate::policy
