// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>

namespace schedmate::settings {

/// A user of this system by name or number, with the groups that the system gives him; a number may
/// have no name. Errors: not_found.
[[nodiscard]] Result<Identity> identity_of(const std::string& user);

/// Of a uid; "" where it has none.
[[nodiscard]] std::string name_of(uid_t user);

}  // namespace schedmate::settings
