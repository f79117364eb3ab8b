// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is remembered of one job (paper 3.1, Vector Store and Version Manager). A `JobRecord` is
/// written at submission and gains its `Outcome` at the end; only jobs with an outcome can teach.
/// A Store (store.hpp) holds the records. Values: run times are in whole seconds, utilisation in
/// per cent and memory in MiB, both per GPU. An absent figure is one that nobody measured.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/job.hpp>
#include <schedmate/node_use.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// One point of a job's progress, as read from its log.
struct ProgressPoint {
  Seconds since_start{0};
  double step = 0;
  std::optional<double> loss;
  bool operator==(const ProgressPoint&) const = default;
};

/// One start of a job, until it ended or was put back into the queue.
struct Attempt {
  std::optional<SimTime> start, end;
  EndState state = EndState::unknown;
  /// The scheduler's own word, "OUT_OF_MEMORY", "REQUEUED"; "" = it gave none.
  std::string word;
  /// "CODE:SIGNAL", "" = not known.
  std::string exit_code;
  /// The hosts as the scheduler lists them, "n[11-12]"; "" = not known.
  std::string nodes;
  bool operator==(const Attempt&) const = default;
};

/// How a job ended.
struct Outcome {
  EndState state = EndState::unknown;
  std::optional<SimTime> start, end;
  Seconds duration{0};
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  /// JSON, "" = none.
  std::string log_summary;
  /// Of its failure (diagnosis.hpp), "" = none.
  std::string fingerprint;
  /// Oldest first.
  std::vector<ProgressPoint> progress;
  /// CPU time of all processes, and their memory at its highest; both over all nodes.
  std::optional<FractionalSeconds> cpu_time;
  std::optional<double> memory_mib;
  /// Oldest first. State, times and duration above are those of the last one.
  std::vector<Attempt> attempts;
  /// What each GPU has.
  std::optional<double> gpu_memory_total_mib{};
  /// Joules of all attempts that were measured.
  std::optional<double> energy_j{};
  /// Of the last attempt.
  std::vector<UsedNode> node_use{};
  bool operator==(const Outcome&) const = default;
};

/// A past job that an advice stood on.
struct Neighbour {
  std::string id;
  /// How alike, 0 to 1.
  double score = 0;
  /// In words: which relation, which fields agree; "" = not kept.
  std::string why{};
  bool operator==(const Neighbour&) const = default;
};

/// What an advice said of the length of a completed run.
struct GivenLength {
  /// Of the runs behind it, which may be others than those of the estimate.
  std::string source;
  /// What its error is measured from: p50 before it was brought below the limit asked for.
  FractionalSeconds centre{0};
  FractionalSeconds p10{0}, p50{0}, p90{0};
  /// The time limit that was suggested; 0 = none.
  Seconds limit{0};
  /// False: its user read "not known".
  bool told = false;
  /// And why.
  std::string not_known{};
  /// That a run which would complete is killed by `limit`, 0 to 1.
  double risk = 0;
  /// That it fails or is cancelled before, 0 to 1.
  std::optional<double> early_end{};
  /// Past runs that it stands on.
  std::map<EndState, std::size_t> runs_by_state{};
  bool operator==(const GivenLength&) const = default;
};

/// The advice that was given at submission, kept to see later how good it was.
struct GivenAdvice {
  /// resubmission, similar, user_history, none.
  std::string source;
  /// Of the time on the GPUs, however the run ends.
  FractionalSeconds mean{0}, p10{0}, p50{0}, p90{0};
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  /// Best first.
  std::vector<Neighbour> neighbours;
  std::optional<GivenLength> length = std::nullopt;
  bool operator==(const GivenAdvice&) const = default;
};

struct JobRecord {
  /// Unique in the store, not empty.
  std::string id;
  /// A name of the history, which may stand for the user's real one.
  std::string user;
  /// Virtual cluster or partition.
  std::string vc;
  SimTime submit;
  std::string root, workdir, command, branch;
  /// Total over all nodes.
  std::int64_t gpus = 0;
  std::int64_t nodes = 0;
  std::string gpu_type;
  std::optional<Seconds> time_limit;
  /// Fact -> normalised value, for comparing field by field.
  std::map<std::string, std::string, std::less<>> fields;
  /// The schedmate.facts.v1 document.
  std::string facts_json;
  /// What is embedded (embed.hpp); "" = the job is not found by similarity.
  std::string text;
  /// The store gives it and put() ignores it; 0 = no text.
  std::uint64_t text_id = 0;
  /// Key of the command without its flags: what makes a resubmission (paper 3.1).
  std::string entry;
  /// Hash of the files that the facts came from.
  std::string closure;
  /// What the scheduler calls the job, and whom it charges; "" = not known.
  std::string name, account, qos, cluster;
  /// The file that the job writes its output to, "" = not known.
  std::string log;
  /// Requested, over all nodes; 0 CPUs = not known.
  std::int64_t cpus = 0;
  std::optional<double> memory_mib;
  std::optional<GivenAdvice> advice;
  /// Empty while the job runs.
  std::optional<Outcome> outcome;
  /// The user's Unix group, "" = not known.
  std::string group{};
  bool operator==(const JobRecord&) const = default;
};

}  // namespace schedmate
