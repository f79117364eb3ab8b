// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The waiting jobs of one GPU count in order of entry, with one question answered in O(log n):
/// which is the first after a given job that is predicted to run for at most so long? A tree of
/// minima over the order; its leaves are thinned out whenever they run out, so that memory follows
/// the queue and not the trace.

#include <optional>
#include <schedmate/cluster.hpp>
#include <schedmate/time.hpp>
#include <vector>

namespace schedmate::policy {

class WaitingLine {
 public:
  static constexpr Seconds any_time = Seconds::max() - Seconds(1);

  /// Usually `id` is larger than all before; else it costs the queue. `run_time` at most any_time.
  void push(JobId id, Seconds run_time);
  void remove(JobId id);
  [[nodiscard]] bool empty() const { return ids_.empty() || least_[1] > any_time; }
  /// The first job from `from` on that runs for at most `longest`.
  [[nodiscard]] std::optional<JobId> first(JobId from, Seconds longest) const;

 private:
  [[nodiscard]] std::size_t leaf_of(JobId id) const;
  void set(std::size_t leaf, Seconds run_time);
  void make_room();
  void put_between(JobId id, Seconds run_time);

  std::vector<JobId> ids_;      // by leaf, ascending; removed ones too
  std::vector<Seconds> least_;  // [1] = root, [leaves + i] = leaf i; gone = Seconds::max()
};

}  // namespace schedmate::policy
