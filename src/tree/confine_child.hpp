// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The child's side of run_confined: giving up rights, one after the other.

#include "tree/confine.hpp"

namespace schedmate::tree {

/// Gives up everything but `reply`. Returns what failed, or nullptr. Must run in the child.
[[nodiscard]] const char* drop_privileges(const Confinement& confinement, int reply);

/// Takes away all changing of files (Landlock). false where the kernel cannot.
[[nodiscard]] bool deny_writing_files();

/// Denies the system calls that reach beyond the process. The flags of openat2 are out of a
/// filter's sight, so that call is there only when writing was denied otherwise. false where the
/// kernel has no seccomp.
[[nodiscard]] bool install_filter(bool allow_openat2);

}  // namespace schedmate::tree
