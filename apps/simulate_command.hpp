// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate simulate`: docs/formats/cli.md.

#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "settings/session.hpp"

namespace schedmate {

struct SimulateRequest {
  std::string trace;                  ///< "FORMAT:PATH"
  std::vector<std::string> policies;  ///< "NAME[:key=value,...][@LABEL]"
  std::string cluster;                ///< TOML file, "" = the trace's own
  std::string tables;                 ///< folder of step times, of elastic traces
  std::string explain;                ///< job id, "" = none
  std::string out;                    ///< folder
};

/// Writes the files and prints what people or programs want to know. Errors: everything that
/// ends the command early, for the exit code of its error.
[[nodiscard]] Result<void> run_simulate(const Session& session, const SimulateRequest& request);

}  // namespace schedmate
