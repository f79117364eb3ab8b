// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/result.hpp>
#include <string>

namespace schedmate::settings {

/// Makes the folder with rights 0700 when it is absent. Says whether the caller owns it. Errors:
/// refused (others may write it, it is a link or another user's), unavailable.
[[nodiscard]] Result<bool> make_state_folder(const std::string& path);

}  // namespace schedmate::settings
