// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/earlier.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::queue {

struct EtaRequest {
  std::string from;  ///< "trace:FORMAT:PATH", or as read_cluster_queue() takes it
  std::string at;    ///< of a trace: seconds of its clock, a date, or "+5d" after its begin
  /// "NAME[:key=value,...]", as in simulate; "" = of a cluster as it schedules, of a trace
  /// slurm_backfill
  std::string policy;
  std::string cluster;  ///< TOML file, "" = the trace's own
  std::int64_t samples = 200;
  std::string job;       ///< the one that is asked for, "" = all
  bool outcome = false;  ///< of a trace: tell what then happened, too
};

/// A waiting or running job, and what is to be expected of it.
struct EtaJob {
  std::string id, user, partition;
  std::int64_t gpus = 0;
  SimTime submit;
  std::optional<SimTime> started;
  std::optional<InstantQuantiles> start;
  InstantQuantiles end;
  /// Why it waits: a name for programs, a sentence for people; "" while it runs.
  std::string reason, text;
  std::string scheduler_says;  ///< in its own word; "" = nothing
  /// Running jobs that it waits for, those that most samples name first.
  struct Awaited {
    std::string id;
    double share = 0;
    std::optional<std::size_t> job;  ///< which of the snapshot, where the samples name it
  };
  std::vector<Awaited> awaited;
  RunTimeSource by = RunTimeSource::site;
  /// In the replay, where the request asks for it; `never` = not within it.
  std::optional<SimTime> started_then, ended_then;
  std::int64_t tasks = 1;      ///< of an array, that wait behind this line
  bool of_same_array = false;  ///< one more task of the array that waits as the job before it
};

struct Eta {
  SimTime now;          ///< on the clock of the trace or of the cluster
  std::string cluster;  ///< Slurm's name of it; "" = a trace, or not said
  std::string policy;
  /// Settings of the site that are in the policy, as Slurm writes them.
  std::vector<std::string> site_settings;
  std::int64_t samples = 0;
  /// How many earlier forecasts the intervals are held against; 0 = they are those of the samples.
  std::int64_t calibrated_on = 0;
  std::int64_t gpus = 0;  ///< of the cluster; 0 in a list of one job
  std::vector<EtaJob> jobs;
  /// What is left out, or taken to be simpler than it is.
  std::vector<std::string> notes;
};

/// A queue with its forecast, from which the list and `why` (why.hpp) are told.
struct QueueWithForecast {
  Eta eta;  ///< its jobs are those of the snapshot, each task of an array by itself
  QueueSnapshot snapshot;
  Scheduler scheduler;
  EtaOptions options;
  QueueForecast forecast;
  /// What the owner of a job may change.
  struct Choice {
    MayChange change;
    std::vector<std::string> partitions;  ///< that stand for MayChange::pools, parallel to them
  };
  std::vector<Choice> choices;  ///< parallel to the jobs
  /// Where the job that is asked for stands.
  std::optional<std::size_t> asked;
  std::int64_t past_runs = 0;  ///< of the history or the trace, from which run times are drawn
};

/// Of a trace the queue of a replay at one instant: of what ended or came after that instant
/// nothing is known to the forecast. Of a file the cluster that it shows, with run times from the
/// history. Errors: of the trace, the cluster, the policy, the file, the history; unsupported for a
/// policy that stops running jobs or lets them share GPUs, and for an instant outside the trace;
/// not_found where the job that is asked for neither waits nor runs, with what is known of it.
[[nodiscard]] Result<QueueWithForecast> forecast_of(const settings::Session& session,
                                                    const EtaRequest& request);
/// The same as a list.
[[nodiscard]] Result<Eta> eta(const settings::Session& session, const EtaRequest& request);

/// Why a job of that pool waits, for people; "" for block none.
[[nodiscard]] std::string block_in_words(QueueBlock block, const std::string& pool,
                                         std::int64_t gpus);

/// Seconds on the clock of the trace or of the cluster; null for `never`.
[[nodiscard]] Document instant_document(SimTime when);
/// {"p10": seconds, "p50": ..., "p90": ...}, null for `never`.
[[nodiscard]] Document quantiles_document(const InstantQuantiles& instants);

/// What the replay leaves out that some of these jobs wait for; "" = nothing.
[[nodiscard]] std::string note_of_other_resources(std::span<const EtaJob> jobs);

/// `schedmate.eta.v1` (docs/formats/eta.md).
[[nodiscard]] Document eta_document(const Eta& eta);

}  // namespace schedmate::queue
