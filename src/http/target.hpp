// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The target of a request, "/api/v1/jobs?state=running", taken apart once and strictly: what has
/// two readings is refused.

#include <functional>
#include <map>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::http {

struct Target {
  std::vector<std::string> parts;  ///< of the path, decoded; "/" gives one empty part
  std::map<std::string, std::string, std::less<>> query;
};

/// Errors: invalid (not "/..." with what RFC 3986 allows there, a bad escape, a decoded byte that
/// is a control character, no UTF-8, or in a path a slash or backslash; a part "." or ".."; a query
/// name that is empty or twice; more than 16 of them). '+' in a query is a blank.
[[nodiscard]] Result<Target> read_target(std::string_view text);

/// Errors: invalid, with the nearest name that the row knows.
[[nodiscard]] Result<void> check_query(const Target& target, std::string_view known_names);

}  // namespace schedmate::http
