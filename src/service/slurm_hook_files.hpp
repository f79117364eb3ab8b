// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The files of a Slurm's hooks on the disk.

#include <optional>
#include <schedmate/result.hpp>
#include <string>

namespace schedmate::service {

/// Its bytes; nothing where there is no such file. Errors: invalid, refused, timeout.
[[nodiscard]] Result<std::optional<std::string>> read_hook_file(const std::string& path);

/// Whether both names are of one file (or one link).
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// Whether a file can be replaced by another that is the same for everybody but in its text; a link
/// is followed. Errors: conflict (a second name, a list of rights), unavailable.
[[nodiscard]] Result<void> check_replaceable(const std::string& path);

}  // namespace schedmate::service
