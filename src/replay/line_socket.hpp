// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines over a unix socket, with deadlines.

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/descriptor.hpp"

namespace schedmate::replay {

/// Errors: timeout; unavailable when the other side is gone.
[[nodiscard]] Result<void> send_line(const Descriptor& socket, std::string_view line,
                                     const Deadline& deadline);
/// `rest` holds what was read beyond the line. Errors: timeout (a line may follow yet);
/// unavailable when the other side is gone; invalid for a line of more than 1 GiB.
[[nodiscard]] Result<std::string> receive_line(const Descriptor& socket, std::string& rest,
                                               const Deadline& deadline);

}  // namespace schedmate::replay
