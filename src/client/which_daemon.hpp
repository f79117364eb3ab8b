// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which daemon a command asks: the one that its flags name, else that of the settings.

#include <optional>
#include <schedmate/result.hpp>
#include <string>

#include "client/ask_daemon.hpp"
#include "settings/session.hpp"

namespace schedmate::client {

struct WhichDaemon {
  std::string address{};     ///< "unix:PATH" or a URL; "": the settings listen.unix, listen.tcp
  std::string token_file{};  ///< "": SCHEDMATE_TOKEN, which goes to URLs alone
};

/// Errors: unsupported (an address that is none), invalid (no token where one must be, no door in
/// the settings), those of reading the file.
[[nodiscard]] Result<DaemonClient> daemon_of(const settings::Session& session,
                                             const WhichDaemon& which);

/// For what also works without a daemon: the one of an address that is given, whether or not it
/// answers; else the one whose socket of the settings takes connections; else none. Errors: as
/// above, of an address that is given.
[[nodiscard]] Result<std::optional<DaemonClient>> daemon_if_any(const settings::Session& session,
                                                                const WhichDaemon& which);

/// Whether a word of a command line may be the id of a job: no file here has this name.
[[nodiscard]] bool may_be_job_id(const std::string& word);

/// The path of a job's document, "/api/v1/jobs/ID".
[[nodiscard]] std::string job_path(std::string_view id);

}  // namespace schedmate::client
