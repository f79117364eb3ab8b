// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long a job will run, from nothing but who submitted what when, and how long it ran
/// (docs/decisions/0024). Its user's own runs, the nearest in order of submission most, those of
/// the same burst far more, are one part. Where they are few the other part counts: what runs of
/// the site last, those of the same pool and size most. Runs that have not ended are lower bounds.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <schedmate/eta.hpp>
#include <span>
#include <vector>

namespace schedmate::eta {

struct Submitted {
  std::uint32_t user = 0;
  std::uint32_t pool = 0;
  std::int32_t gpus = 1;
  SimTime submit;
  std::optional<SimTime> start{};
  double ran_s = 0;  ///< so far, of one that has not ended
  bool ended = false;
};

class RunTimeModel {
 public:
  /// Of submissions in order of time, as all is at `now`.
  RunTimeModel(std::vector<Submitted> submissions, SimTime now);

  /// Of the i-th, which waits or runs. Costs about as much as a pass over 400 runs.
  [[nodiscard]] RunTimeBelief belief(std::size_t i) const;
  /// Of several. Those that wait alike share a curve, which is made once.
  [[nodiscard]] std::vector<RunTimeBelief> beliefs(std::span<const std::size_t> which) const;
  /// Equal for submissions of one user and size of which each came at most ten minutes after the
  /// last.
  [[nodiscard]] std::uint32_t burst(std::size_t i) const { return bursts_[i]; }
  /// Whether its user has started another run.
  [[nodiscard]] bool has_own(std::size_t i) const;
  /// What is believed of a job of nobody in particular; null before the first start.
  [[nodiscard]] std::shared_ptr<const RunTimeCurve> site() const;

 private:
  static constexpr std::size_t sizes = 7;
  using Weights = std::array<double, RunTimeCurve::bins>;
  /// Runs that ended in a bin, and such that got as far and run still.
  struct Counts {
    Weights ended{};
    Weights open{};
    void add(double ran_s, double weight, bool ended);
    void add(const Counts& other, double weight);
    /// Those that reach each bin.
    [[nodiscard]] Weights at_risk() const;
  };
  struct Prior {
    Weights chance{};  ///< to end in a bin, of those that reach it
    Weights reach{};
  };
  [[nodiscard]] const Prior& prior(std::uint32_t pool, std::size_t size) const;
  [[nodiscard]] Counts own_runs(std::size_t i) const;

  std::vector<Submitted> jobs_;
  std::vector<std::uint32_t> bursts_;
  std::map<std::uint32_t, std::vector<std::size_t>> started_;  // by user, in order of submission
  std::map<std::pair<std::uint32_t, std::size_t>, Prior> priors_;
  Prior anywhere_;
};

}  // namespace schedmate::eta
