// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which file systems may keep whoever asks them waiting for ever, found out without asking them.

#include <string>
#include <string_view>

namespace schedmate {

/// Whether the path leads to a file system that is more than memory and disks of this machine
/// (FUSE, NFS, Lustre, anything unknown). Nothing on such a one is looked at. `table` is the text
/// of /proc/self/mountinfo; without one (empty) everything may hang. In a chroot it may have no row
/// for "/", which then does not hang: this program comes from there.
[[nodiscard]] bool may_hang(const std::string& path, std::string_view table);

/// As above, with the mounts of this process.
[[nodiscard]] bool may_hang(const std::string& path);

}  // namespace schedmate
