// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs and traces as plain values. A `Trace` is what a reader (trace.hpp) makes of a file and what
/// the simulator (sim.hpp) replays. It owns all text, so it is moved, never copied; everything in
/// it is read-only once it has been read and may be shared between threads.

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

/// How a job ended in the real cluster. Failed and cancelled jobs are replayed like any other: they
/// hold their GPUs for the logged duration.
enum class EndState : std::uint8_t { completed, cancelled, failed, timeout, node_fail, unknown };
[[nodiscard]] std::string_view to_string(EndState state);

inline constexpr std::uint32_t no_index = UINT32_MAX;

/// One job as it was submitted, and how long it ran alone on its GPUs.
struct Job {
  std::string_view id;               ///< as printed in the trace; owned by the Trace
  std::uint32_t user = 0;            ///< index into Trace::users
  std::uint32_t vc = 0;              ///< index into Trace::vcs (virtual cluster, partition)
  std::int32_t gpus = 0;             ///< total over all nodes, >= 1
  std::uint32_t profile = no_index;  ///< index into PackingTables::profiles, or no_index
  SimTime submit;                    ///< when it was submitted
  Seconds duration{0};               ///< exclusive run time, >= 0
  EndState state = EndState::unknown;
};

/// What one workload configuration does to a GPU when it runs alone (Lucid section 3.3 calls the
/// score the "Sharing Score": 0 light, 1 medium, 2 heavy).
struct Profile {
  std::string model;
  std::string dataset;
  int batch_size = 0;
  bool mixed_precision = false;
  double gpu_util_pct = 0;
  double memory_util_pct = 0;
  double memory_mib = 0;  ///< GPU memory per GPU
  int sharing_score = 0;
  int packed_gpus = 8;             ///< most GPUs of a job of this kind that may share them
  bool interference_free = false;  ///< a pair with this member runs at full speed (released table)
};

/// The sharing score of a utilisation (Lucid 3.3), by the rule of thumb that agrees with the
/// released labels as often as a fitted tree does (lucid.md 6.1).
struct SharingRule {
  double heavy_memory_util_pct = 30.5;  ///< above: 2
  double light_gpu_util_pct = 25;       ///< else up to: 0; else 1
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
  SharingRule sharing;  ///< for what was foretold; a profile has its score
  [[nodiscard]] PairRate rate(std::uint32_t newcomer, std::uint32_t resident) const;
};

/// Predicted submissions: row i covers [first + i * step, first + (i + 1) * step).
struct ForecastTable {
  SimTime first;
  Seconds step{600};
  std::vector<double> jobs;  ///< predicted number of jobs submitted in the row's interval
  std::vector<double> gpus;  ///< predicted number of GPUs requested in it
};

/// What a reader did with the rows of its file.
struct ReadReport {
  std::uint64_t rows = 0;                        ///< data rows seen
  std::uint64_t kept = 0;                        ///< rows that became jobs
  std::map<std::string, std::uint64_t> dropped;  ///< reason -> rows, e.g. "no GPUs requested"
  std::vector<std::string> messages;             ///< first 20: "file:line:column: reason"
  std::uint64_t out_of_order = 0;                ///< rows submitted before their predecessor
};

struct Trace {
  std::vector<Job> jobs;           ///< by submit time, equal times in file order
  std::vector<std::string> users;  ///< users[0] is "" when the trace names none
  std::vector<std::string> vcs;
  std::map<std::string, std::vector<double>, std::less<>> columns;  ///< extra columns asked for
  std::optional<ClusterSpec> cluster;             ///< from the trace's own VC file
  std::shared_ptr<const PackingTables> packing;   ///< from the trace's own tables, or null
  std::shared_ptr<const ForecastTable> forecast;  ///< likewise
  ReadReport report;
  std::vector<std::unique_ptr<char[]>> text;  ///< what Job::id points into
};

}  // namespace schedmate
