// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/eta.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

struct EtaRequest {
  std::string from;  ///< "trace:FORMAT:PATH", or as read_cluster_queue() takes it
  std::string at;    ///< of a trace: seconds of its clock, a date, or "+5d" after its begin
  std::string policy = "slurm_backfill";  ///< "NAME[:key=value,...]", as in simulate
  std::string cluster;                    ///< TOML file, "" = the trace's own
  std::int64_t samples = 200;
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
  /// Running jobs that it waits for, those that most samples name first.
  struct Awaited {
    std::string id;
    double share = 0;
  };
  std::vector<Awaited> awaited;
  RunTimeSource by = RunTimeSource::site;
};

struct Eta {
  SimTime now;  ///< on the clock of the trace or of the cluster
  std::string policy;
  std::int64_t samples = 0;
  std::int64_t gpus = 0;  ///< of the cluster
  std::vector<EtaJob> jobs;
  /// What is left out, or taken to be simpler than it is.
  std::vector<std::string> notes;
};

/// Of a trace the queue of a replay at one instant: of what ended or came after that instant
/// nothing is known to the forecast. Of a file the cluster that it shows, with run times from the
/// history. Errors: of the trace, the cluster, the policy, the file, the history; unsupported for a
/// policy that stops running jobs or lets them share GPUs, and for an instant outside the trace.
[[nodiscard]] Result<Eta> eta(const settings::Session& session, const EtaRequest& request);

/// `schedmate.eta.v1` (docs/formats/eta.md).
[[nodiscard]] Document eta_document(const Eta& eta);

}  // namespace schedmate::service
