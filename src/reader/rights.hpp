// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rights of the reader: to become a user, and nothing else. Whoever has become one has none of
/// them left.

#include <sys/types.h>

#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <vector>

namespace schedmate::reader {

/// Whether this process may become other users (CAP_SETUID and CAP_SETGID).
[[nodiscard]] bool may_become_others();

/// In a child: becomes the user, with his groups, and gives up every capability, for good. Errors:
/// refused (no right to, or a way back is left).
[[nodiscard]] Result<void> become_for_good(const Identity& who);

/// SIGKILL to the group and the processes of a user. Who may become a user may not signal him yet,
/// so this process takes his effective uid on for the moment; its real and saved one, by which
/// others might signal it, stay. For a process with one thread.
void kill_as(uid_t user, pid_t group, std::span<const pid_t> others = {});

/// The children of this process that have not been waited for. Empty where the system does not say.
[[nodiscard]] std::vector<pid_t> own_children();

}  // namespace schedmate::reader
