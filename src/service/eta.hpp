// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/eta.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

struct EtaRequest {
  std::string from;     ///< "trace:FORMAT:PATH"
  std::string at;       ///< instant: seconds of the trace's clock, a date, or "+5d" after its begin
  std::string policy = "slurm_backfill";  ///< "NAME[:key=value,...]", as in simulate
  std::string cluster;  ///< TOML file, "" = the trace's own
  std::int64_t samples = 200;
};

/// A queue and what is to be expected of it.
struct Eta {
  std::string policy;
  QueueSnapshot snapshot;
  std::vector<std::string> users;  ///< parallel to snapshot.jobs
  QueueForecast forecast;
};

/// The queue of a replay at one instant, and its forecast: of what ended or came after that
/// instant nothing is known to it. Errors: of the trace, the cluster, the policy; unsupported for a
/// policy that stops running jobs or lets them share GPUs, and for an instant outside the trace.
[[nodiscard]] Result<Eta> eta(const settings::Session& session, const EtaRequest& request);

/// One sentence: why a waiting job waits.
[[nodiscard]] std::string block_in_words(const Eta& eta, std::size_t job);

/// `schedmate.eta.v1` (docs/formats/eta.md).
[[nodiscard]] Document eta_document(const Eta& eta);

}  // namespace schedmate::service
