// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything a run leaves behind: CSVs per label, one summary.json, one report.html. A record
/// holds a whole replay. `summarise` keeps of it only what the summary and the report need, so the
/// caller may drop the record before the next replay. Equal inputs give byte-equal files: nothing
/// in them depends on the clock or on cpu_ms. docs/formats/summary-json.md defines each figure.
/// Pure functions of values, except write_run; any thread may call them.

#include <array>
#include <cstdint>
#include <optional>
#include <schedmate/sim.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedmate {

/// What a profiler in front of the virtual clusters (Lucid's) has for itself while jobs wait.
struct ProfilerShare {
  std::int64_t gpus = 0;
  /// Of these, from nodes that VCs lent; the rest is there in addition to the cluster.
  std::int64_t borrowed_gpus = 0;
  /// Larger jobs are not profiled; each is for so long.
  int max_gpus = 0;
  Seconds time{0};
  /// VCs that lent a node each.
  std::vector<std::string> lenders{};
  /// It took one more node for a while so many times.
  std::int64_t grew = 0;
};

/// How one label was made.
struct RunLabel {
  /// Names the files: "sjf", or what follows "@".
  std::string label{};
  /// As given: "sjf:estimate=last_k".
  std::string policy{};
  /// In effect: "last_k".
  std::string estimator{};
  /// "repaired" or "reference" (docs/decisions/0002).
  std::string mode{};
  /// In effect, in print order.
  std::vector<std::pair<std::string, std::string>> settings{};
  std::uint64_t seed = 1;
  /// As in SimOptions.
  Seconds overhead_small{40};
  Seconds overhead_large{60};
  /// For the terminal's table only.
  double cpu_ms = 0;
  /// The policy profiles or packs: eight more columns per job.
  bool profiler_columns = false;
  /// It packs, or jobs fail: six more.
  bool attempt_columns = false;
  /// The estimator that knows what nobody can before jobs end, "" = none: the run is a bound.
  std::string oracle{};
  /// Whether estimates decide anything; else `estimator` is one that nobody looks at.
  bool uses_estimates = true;
  /// What it stands on that nobody measured, as noun phrases: "time limits (...)".
  std::vector<std::string> invented{};
  /// SchedMate's advice is an input, whether or not it was used.
  bool takes_advice = false;
  std::optional<ProfilerShare> profiler{};
};

/// One finished replay. The trace and the cluster outlive it.
struct RunRecord {
  RunLabel run;
  const Trace& trace;
  const ClusterSpec& cluster;
  SimResult result;
  /// By row, 1: SchedMate's advice was used for the job (its estimate, or its GPU use instead of a
  /// profile). Empty: for none.
  std::vector<std::uint8_t> advised{};
};

/// What all labels share.
struct Experiment {
  /// "helios:data/jobs.csv".
  std::string trace_spec;
  /// File name, or "" when the trace brought its own.
  std::string cluster_spec;
  /// Of the program.
  std::string commit;
  const Trace& trace;
  const ClusterSpec& cluster;
};

/// Mean and nearest-rank quantiles; NaN (JSON null) when there is no value.
struct Distribution {
  double average = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

/// The finished jobs of one VC, size class or user. Values are NaN when there are none.
struct GroupSummary {
  std::string name;
  std::uint64_t jobs = 0;
  FractionalSeconds average_jct{0};
  FractionalSeconds p99_jct{0};
  FractionalSeconds average_queue{0};
  double average_slowdown = 0;
};

/// One label's row of every table and line of every figure.
struct RunSummary {
  RunLabel run;
  std::uint64_t jobs = 0;
  std::uint64_t finished = 0;
  std::uint64_t infeasible = 0;
  std::uint64_t stalled = 0;
  /// As RunRecord::advised.
  std::uint64_t advised = 0;
  Distribution jct_s;
  Distribution queue_s;
  /// Bounded, threshold 10 s.
  Distribution slowdown;
  /// Themis' rho: JCT over JCT on an equal share; 1 = fair. And the finished jobs with rho > 1.
  Distribution finish_fairness;
  double share_worse_than_fair = 0;
  /// Of the users' mean slowdowns; 1 = equal.
  double jain_index = 0;
  /// Last end - first submission.
  Seconds makespan{0};
  /// From first to last submission: busy GPUs / all; stranded GPUs / all; GPU seconds submitted /
  /// GPU seconds there.
  double utilisation = 0;
  double fragmentation = 0;
  double offered_load = 0;
  std::int64_t peak_queue = 0;
  std::int64_t preemptions = 0;
  /// Preemptions x overhead x GPUs.
  std::int64_t wasted_gpu_s = 0;
  /// Progress that failures and evictions threw away.
  double lost_gpu_s = 0;
  int total_gpus = 0;
  std::vector<GroupSummary> by_vc;
  std::vector<GroupSummary> by_size;
  std::vector<GroupSummary> by_user;
  static constexpr std::size_t cdf_points = 300;
  using Cdf = std::array<double, cdf_points>;
  /// [k] = share of finished jobs with at most cdf_grid(k) seconds.
  Cdf jct_cdf{};
  Cdf queue_cdf{};
  Timeline timeline;
};
/// In seconds: 36 points a decade from one second on.
[[nodiscard]] double cdf_grid(std::size_t k);

/// Writes FOLDER/LABEL.jobs.csv, LABEL.timeline.csv and, when its profiler scaled,
/// LABEL.scaling.csv. Errors: invalid for a label that cannot name a file; unavailable.
[[nodiscard]] Result<void> write_run(const std::string& folder, const RunRecord& record);

/// One pass and one sort per distribution.
[[nodiscard]] RunSummary summarise(const RunRecord& record);

/// The contents of summary.json and report.html. The page works without a network.
[[nodiscard]] std::string summary_json(const Experiment& experiment,
                                       std::span<const RunSummary> runs);
[[nodiscard]] std::string report_html(const Experiment& experiment,
                                      std::span<const RunSummary> runs);
/// The same behind an opening: HTML of its own, safe as it is, that says what the runs show. Then
/// the tables mark no value as best.
struct ReportOpening {
  std::string title;  ///< plain text
  std::string html;
};
[[nodiscard]] std::string report_html(const Experiment& experiment,
                                      std::span<const RunSummary> runs,
                                      const ReportOpening& opening);
/// For people: one line per label, with cpu_ms and how its average JCT compares with that of the
/// first, in a terminal of so many columns; 0: none.
[[nodiscard]] std::string results_table(std::span<const RunSummary> runs, std::size_t columns);

}  // namespace schedmate
