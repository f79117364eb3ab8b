// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs and traces as plain values. A reader (trace.hpp) makes a `Trace` of a file, and the
/// simulator (sim.hpp) replays it. A trace owns all its text, so it is moved, never copied. Nothing
/// in it changes once it has been read, so threads may share it. Utilisation is in per cent, memory
/// in MiB, times are whole seconds on the trace's clock (time.hpp).

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/cluster.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

enum class JobPhase : std::uint8_t { queued, running, ended };

/// How a job ended in the real cluster. Failed and cancelled jobs are replayed like any other: they
/// hold their GPUs for the logged duration.
enum class EndState : std::uint8_t {
  completed,
  cancelled,
  failed,
  /// Killed by its time limit (or its deadline).
  timeout,
  node_fail,
  unknown,
  /// Stopped for another job.
  preempted,
  /// Sent back to the queue by somebody: an attempt, not the end of the job.
  requeued,
  out_of_memory,
};
/// All that say something, in the order in which people read them.
inline constexpr auto known_end_states = std::to_array<EndState>(
    {EndState::completed, EndState::failed, EndState::out_of_memory, EndState::cancelled,
     EndState::timeout, EndState::node_fail, EndState::preempted, EndState::requeued});
[[nodiscard]] std::string_view to_string(EndState state);
/// The one that to_string() names so.
[[nodiscard]] std::optional<EndState> end_state_named(std::string_view name);
/// The job ended by its own fault: failed, or out of memory.
[[nodiscard]] constexpr bool failed_itself(EndState state) {
  return state == EndState::failed || state == EndState::out_of_memory;
}

/// Means "none" where an index is expected.
inline constexpr std::uint32_t no_index = UINT32_MAX;

/// One job as it was submitted, and how long it ran alone on its GPUs.
struct Job {
  /// As printed in the trace, which owns the text.
  std::string_view id;
  /// Indices into Trace::users and Trace::vcs (virtual cluster, partition).
  std::uint32_t user = 0;
  std::uint32_t vc = 0;
  /// Total over all nodes, at least 1.
  std::int32_t gpus = 0;
  /// Index into PackingTables::profiles, or no_index: nobody knows what it does to a GPU.
  std::uint32_t profile = no_index;
  SimTime submit;
  /// Alone on its GPUs, at least 0.
  Seconds duration{0};
  EndState state = EndState::unknown;
};

/// What one workload configuration does to a GPU when it runs alone (Lucid 3.3).
struct Profile {
  std::string model;
  std::string dataset;
  int batch_size = 0;
  bool mixed_precision = false;
  double gpu_util_pct = 0;
  double memory_util_pct = 0;
  /// Of one GPU.
  double memory_mib = 0;
  /// Lucid's "Sharing Score": 0 light, 1 medium, 2 heavy.
  int sharing_score = 0;
  /// Most GPUs of a job of this kind that may share them.
  int packed_gpus = 8;
  /// A pair with this member runs at full speed: Lucid's released table lacks it.
  bool interference_free = false;
};

/// The sharing score of a utilisation (Lucid 3.3), by a rule of thumb that agrees with the released
/// labels as often as a fitted tree does: above the first bound 2, else up to the second 0, else 1.
struct SharingRule {
  double heavy_memory_util_pct = 30.5;
  double light_gpu_util_pct = 25;
  [[nodiscard]] int score(const Profile& profile) const {
    if (profile.memory_util_pct > heavy_memory_util_pct) return 2;
    return profile.gpu_util_pct <= light_gpu_util_pct ? 0 : 1;
  }
};

/// Speeds of the members of a pair, 1.0 = as fast as alone.
struct PairRate {
  double newcomer = 1.0;
  double resident = 1.0;
};

/// Profiles and what happens when two of them share GPUs. `pairs` is a square matrix, row =
/// newcomer's profile, column = resident's profile; see docs/formats/packing-tables.md.
struct PackingTables {
  std::vector<Profile> profiles;
  std::vector<PairRate> pairs;
  /// For GPU use that was predicted; a profile has its score.
  SharingRule sharing;
  [[nodiscard]] PairRate rate(std::uint32_t newcomer, std::uint32_t resident) const;
};

/// Predicted submissions: row i covers [first + i * step, first + (i + 1) * step).
struct ForecastTable {
  SimTime first;
  Seconds step{600};
  /// By row: jobs submitted in its interval, and GPUs that they ask for.
  std::vector<double> jobs;
  std::vector<double> gpus;
};

/// What a reader did with the rows of its file.
struct ReadReport {
  /// Data rows that it saw, and those that became jobs.
  std::uint64_t rows = 0;
  std::uint64_t kept = 0;
  /// Reason -> rows, such as "no GPUs requested".
  std::map<std::string, std::uint64_t> dropped;
  /// The first 20: "file:line:column: reason".
  std::vector<std::string> messages;
  /// Rows that were submitted before their predecessor; they are sorted, not dropped.
  std::uint64_t out_of_order = 0;
  /// Of its columns those whose name begins with syn_: what schedmate generate invented.
  std::vector<std::string> invented_columns;
};

struct Trace {
  /// By submit time, equal times in file order.
  std::vector<Job> jobs;
  /// users[0] is "" when the trace names none.
  std::vector<std::string> users;
  std::vector<std::string> vcs;
  /// Those that ReadOptions asked for, one value a job.
  std::map<std::string, std::vector<double>, std::less<>> columns;
  /// From the trace's own files; empty and null when it has no such file.
  std::optional<ClusterSpec> cluster;
  std::shared_ptr<const PackingTables> packing;
  std::shared_ptr<const ForecastTable> forecast;
  ReadReport report;
  /// What Job::id points into.
  std::vector<std::unique_ptr<char[]>> text;
};

}  // namespace schedmate
