// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the command line and the settings say, as the options of a probe; secrets and keys in their
/// files.

#include <schedmate/result.hpp>
#include <string>

#include "probe/program.hpp"
#include "settings/session.hpp"

namespace schedmate::probe {

struct ProbeRequest {
  std::string node;        ///< "" = as the key says, else the host's name up to its first dot
  std::string nvml_from;   ///< "" = the library
  std::string kernel_log;  ///< "" = /dev/kmsg
  bool once = false;       ///< nothing is sent: no key is needed
};

/// Errors: invalid (what is missing or does not fit), those of reading the key.
[[nodiscard]] Result<ProbeOptions> options_of(const settings::Session& session,
                                              const ProbeRequest& request);

/// The secret in the file that probe.secret_file names, which only its owner and his group may
/// read. Errors: invalid, refused, unavailable.
[[nodiscard]] Result<std::string> read_secret(const std::string& path);

/// The line for the key file of a node, from the secret of probe.secret_file. Errors: as
/// read_secret(); invalid for what is no name of a node.
[[nodiscard]] Result<std::string> key_line_for(const settings::Session& session,
                                               const std::string& node);

}  // namespace schedmate::probe
