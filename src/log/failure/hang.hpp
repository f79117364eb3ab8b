// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job that hung: what was last seen of it, and for how long nothing was.

#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string_view>

#include "log/failure/locate.hpp"
#include "log/lines/failure_verdict.hpp"

namespace schedmate::failure {

/// A verdict whose reason begins with this names a hang.
inline constexpr std::string_view hung = "hung: ";

/// Names a hang that shows in the time stamps: an end from outside (time limit, cancellation,
/// interrupt, kill) after a silence far longer than any before. Adds to the reason of every hang
/// what was last seen.
[[nodiscard]] Result<void> name_hang(const ForeignPath& path, const FailureLine& root,
                                     lines::FailureVerdict& verdict);

}  // namespace schedmate::failure
