// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Slurm's host lists: "n[01-03,7],gpu1", "rack[1-2]n[0-7]".

#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::trace {

/// No job holds more nodes than this.
inline constexpr std::size_t most_hosts = 65'536;

/// The names in the order of the list, leading zeros kept; none for "None assigned" and "".
/// Errors: invalid; the message is what is wrong, without a place.
[[nodiscard]] Result<std::vector<std::string>> expand_hosts(std::string_view list);

}  // namespace schedmate::trace
