// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The forecast of one pool: its samples, kept as long as they stay right. Draws are kept when the
/// pool's jobs change, samples are not.

#include <schedmate/eta.hpp>
#include <vector>

#include "eta/draws.hpp"
#include "eta/pool_replay.hpp"
#include "eta/submissions.hpp"

namespace schedmate::eta {

class PoolForecast {
 public:
  /// Without jobs. `snapshot` outlives it, its jobs are not looked at.
  PoolForecast(const QueueSnapshot& snapshot, std::uint32_t pool, const EtaOptions& options);

  /// After the others.
  void add(const SnapshotJob& job);
  void remove(std::size_t which);
  [[nodiscard]] bool empty() const { return members_.empty(); }
  /// What it shares with other pools is not what it was.
  void forget_samples() { replay_.reset(); }
  /// The snapshot's `now` is a later one.
  void time_has_passed();

  /// Begins again if anything has changed. Errors: PoolReplay::make's.
  [[nodiscard]] Result<void> begin(const Scheduler& scheduler);

  /// Samples to be drawn before the next judgement, at most so many in all; none when that is done.
  struct Round {
    std::size_t from = 0, to = 0;
  };
  [[nodiscard]] Round next_round(std::int64_t samples);
  /// One of them; several threads may draw different ones.
  void sample(std::size_t number);
  void end_round();

  /// `indices`: of its jobs in `forecast`.
  void report(QueueForecast& forecast, const std::vector<std::uint32_t>& indices);

 private:
  struct Member {
    explicit Member(const SnapshotJob& of) : kin(of), waits(!of.started) {}
    Kin kin;
    bool waits;
    // By sample.
    std::vector<double> run_times_s{};  // 0: not drawn yet
    std::vector<SimTime> ends{};
    std::vector<Fate> fates{};  // of a waiting one
    // What was told last of the ends.
    InstantQuantiles end{};
    std::size_t samples = 0;
    std::uint64_t hash = 0;
  };
  [[nodiscard]] std::vector<NodeChange> draw_returns(std::size_t number) const;
  void plan_until(std::size_t samples);
  [[nodiscard]] bool stands_still();
  void tell_end(Member& member) const;
  [[nodiscard]] InstantQuantiles starts_of(const Member& member) const;
  [[nodiscard]] std::vector<JobForecast::Awaited> awaited_by(
      const Member& member, const std::vector<std::uint32_t>& indices) const;

  const QueueSnapshot* snapshot_;
  EtaOptions options_;
  std::uint32_t pool_;
  PastDays days_;
  std::vector<SnapshotJob> jobs_;
  std::vector<Member> members_;  // parallel to jobs_
  std::vector<std::uint32_t> by_kin_;
  std::optional<PoolReplay> replay_;  // nothing: the jobs have changed
  bool waits_ = false;
  bool done_ = false;
  std::size_t drawn_ = 0, planned_ = 0;
  std::vector<InstantQuantiles> before_;  // starts, as last judged
};

}  // namespace schedmate::eta
