// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The traces that experiments run on.

#include <schedmate/job.hpp>
#include <string>

#include "study/experiment_file.hpp"

namespace schedmate::study {

struct LoadedTrace {
  Trace trace;
  ClusterSpec cluster;
};
/// Reads or draws it. Errors: of reading the files; unsupported when the cluster is not known.
[[nodiscard]] Result<LoadedTrace> load_trace(const ExperimentTrace& which);

/// Whether a replay reads the setting.
[[nodiscard]] bool decides_rows(std::string_view key);

/// The settings that `read` holds for, as far as they differ from the defaults: "key=value" lines.
[[nodiscard]] std::string unusual(const settings::Settings& settings,
                                  bool (*read)(std::string_view key));

/// What the experiment's results depend on beside the program: SHA-256 (hex) of the command, the
/// experiment's text, the unusual settings and every data file. Errors: of reading them.
[[nodiscard]] Result<std::string> fingerprint_of(const settings::Settings& settings,
                                                 const ExperimentFile& experiment,
                                                 const std::string& command);

}  // namespace schedmate::study
