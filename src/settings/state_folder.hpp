// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/result.hpp>

#include "settings/session.hpp"

namespace schedmate::settings {

/// Makes the folder with rights 0700 when it is absent. Says whether the caller owns it. Errors:
/// refused (others may write it, it is a link or another user's), unavailable,
/// Session::state_fault.
[[nodiscard]] Result<bool> make_state_folder(const Session& session);

/// Before a command that uses the state folder runs, while the process has one thread: where its
/// file system, or that of the store's file, may hang, asks it, sets Session::state_fault when it
/// does not answer, and else goes on in a child. The parent gets the exit code of that; whoever
/// gets none goes on. Errors: timeout (it stopped answering), unavailable; base/folder_watch.hpp.
[[nodiscard]] Result<std::optional<int>> watch_state_folder(Session& session);

/// For a library, whose process is not ours to leave: asks those file systems once, and sets
/// Session::state_fault where one does not answer.
void ask_state_folder(Session& session);

}  // namespace schedmate::settings
