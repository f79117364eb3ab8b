// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Figures of an arm against its host, within one perturbation and over all of them.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/statistics.hpp"

namespace schedmate::study {

/// What one replay says of the jobs that count, in the order of the trace. A job completion time
/// (JCT) is end - submission, at least 1 s, and NaN for a job that did not finish.
struct Replayed {
  std::vector<double> jct_s;
  std::vector<double> duration_s;  ///< of the same jobs, alone and at once; empty if not known
  double makespan_s = 0;           ///< last end - first submission, of the jobs that count
  double held_gpu_s = 0;           ///< by the jobs that count, GPU seconds
  double packed_gpu_s = 0;  ///< of them on GPUs that were another job's (the newcomers' share)
};

/// Figures of one pair of replays, each with its 95 % interval over the perturbations.
enum class Figure : std::uint8_t {
  ln_ratio,      ///< mean over jobs of ln(JCT arm / JCT host); below 0 is faster
  jct_ratio,     ///< mean JCT host / mean JCT arm, "x" of the paper's Figure 12d
  jct_s,         ///< mean of the arm
  host_jct_s,    ///< mean of the host
  bound,         ///< mean JCT host / mean duration: no jct_ratio is above it; NaN if not known
  jct_p50_s,     ///< of the arm, nearest rank
  jct_p99_s,     ///< likewise
  ratio_p50,     ///< of JCT arm / JCT host over jobs
  ratio_p99,     ///< likewise
  slowed_2x,     ///< share of jobs with JCT arm > 2 JCT host
  makespan_s,    ///< of the arm
  packed_share,  ///< GPU time on GPUs that another job had first / GPU time held
  jobs,          ///< that finished in both and count
  unfinished,    ///< that finished in the host alone
  count
};
inline constexpr auto figure_count = static_cast<std::size_t>(Figure::count);
inline constexpr std::array<std::string_view, figure_count> figure_names{
    "ln_ratio",  "jct_ratio", "jct_s",     "host_jct_s", "bound",        "jct_p50_s", "jct_p99_s",
    "ratio_p50", "ratio_p99", "slowed_2x", "makespan_s", "packed_share", "jobs",      "unfinished"};

using Figures = std::array<double, figure_count>;  ///< by Figure

/// Jobs that did not finish in one of the two are left out of every figure but `unfinished`.
[[nodiscard]] Figures compare(const Replayed& host, const Replayed& arm);

/// One line of an experiment's CSV.
struct FigureRow {
  std::string experiment, trace, at, arm, host, policy, figure;
  Interval interval;
  std::string note;  ///< of a verdict: "holds", "exceeds", "no head-room"
  std::string workload_sha256;
  std::string command;  ///< that makes this row
};

/// A safe arm is at most this much slower, in the geometric mean (`upper95` is of ln_ratio) and in
/// the average JCT (`longer95`).
inline constexpr double safe_slowdown = 0.02;
/// The oracle's gain needs a lower 95 % limit above this, else there is no head-room.
inline constexpr double least_head_room = 0.01980262729617973;

/// Rows of the host itself: what does not compare it with anything.
[[nodiscard]] std::vector<FigureRow> host_rows(const FigureRow& base,
                                               std::span<const Figures> perturbations);
/// Rows of one arm: every Figure, `bound_share` (of what zero waiting and no sharing would save,
/// bootstrap over perturbations), then `upper95` and `longer95`, with their verdicts when the arm
/// takes advice. `base` has the names.
[[nodiscard]] std::vector<FigureRow> arm_rows(const FigureRow& base,
                                              std::span<const Figures> perturbations);
/// Share of the oracle's gain: sum ln(host/arm) / sum ln(host/oracle), bootstrap over
/// perturbations.
struct OracleShare {
  std::span<const Figures> arm, oracle;
};
[[nodiscard]] FigureRow oracle_row(const FigureRow& base, const OracleShare& pair);

/// Mean of ln(JCT arm / JCT other) over jobs, paired by perturbation: what `arm` has over a
/// control. Both have the same host.
struct ArmPair {
  std::span<const Figures> arm, other;
};
[[nodiscard]] FigureRow difference_row(const FigureRow& base, const ArmPair& pair);

[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_line(const FigureRow& row);

}  // namespace schedmate::study
