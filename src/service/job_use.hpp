// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a job used of what it was given, as seff, reportseff and jobstats count it, and what of it
/// was wasted, as figures and in words for people. Nothing that was not measured is counted; names
/// in words are foreign text.

#include <cstdint>
#include <optional>
#include <schedmate/job_record.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::service {

struct JobUse {
  /// In per cent: run time of the time limit, CPU time of the CPUs' time, memory of the memory.
  std::optional<double> limit_pct, cpu_pct, memory_pct;
  std::optional<double> gpu_util_pct;
  /// Memory of the GPUs of what they have.
  std::optional<double> gpu_memory_pct;
  /// Held by all attempts together.
  double gpu_hours = 0;
  /// Held and not used, by the utilisation that was measured; empty: nobody measured it.
  std::optional<double> idle_gpu_hours;
  /// Of attempts that failed, ran into the time limit or were put back into the queue.
  double lost_gpu_hours = 0;

  [[nodiscard]] double wasted_gpu_hours() const {
    return lost_gpu_hours + idle_gpu_hours.value_or(0);
  }
};

/// Of a job that has ended; of another one without its times. Its last attempt counts for the
/// shares.
[[nodiscard]] JobUse use_of(const JobRecord& record);

/// What of its use `into` does not know, from another account of the same run.
void fill_use(const Outcome& from, Outcome& into);

/// Empty: not known, or not the same number on each.
[[nodiscard]] std::optional<std::int64_t> cpus_per_node(const JobRecord& record);

/// What counts as lost: neither completed nor cancelled.
[[nodiscard]] bool is_lost(const Attempt& attempt);

/// Why a job ended, in a few words that equal jobs share: what its log showed, else what the
/// scheduler says ("time limit", "exit code 1"); "completed".
[[nodiscard]] std::string cause_of(const JobRecord& record);
/// The class of the failure that its log showed, "user_script"; "" = no log was read.
[[nodiscard]] std::string failure_class_of(const JobRecord& record);

/// The scheduler's word for how it ended, in small letters: "out_of_memory"; without one that of
/// our own state.
[[nodiscard]] std::string end_word(const JobRecord& record);
/// All that end_word() may give.
[[nodiscard]] std::span<const std::string_view> end_words();

/// "8 GPUs (a100), 2 nodes, 32 CPUs (16 a node), 64 GiB, limit 4 h, gpu/normal, cluster big"; ""
/// for a log that belongs to no known job.
[[nodiscard]] std::string asked_words(const JobRecord& record);

/// "16 GPU-hours held, 2.1 of them idle, 4 lost, 1.2 kWh"; "" = nothing is known.
[[nodiscard]] std::string cost_words(const JobRecord& record, const JobUse& use);

struct NodeWords {
  std::string node;  ///< "n1: CPU 10 % of 24, memory 6 % (7.9 GiB of 128 GiB)"
  std::string gpus;  ///< "GPU 0, 1: 66, 65 % busy; memory 66, 1 % of 40 GiB", "" = none
};

/// One for each node, where jobstats counted it.
[[nodiscard]] std::vector<NodeWords> words_of_nodes(const JobRecord& record);

}  // namespace schedmate::service
