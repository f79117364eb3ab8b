// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "log/lines/clean.hpp"

namespace schedmate::lines {

/// A time stamp at the beginning of a text, and how many characters it takes.
struct FoundStamp {
  Stamp stamp;
  std::size_t length = 0;
  char level = 0;  ///< of a glog stamp ("I0605 01:19:05.620946")
};

/// Knows ISO dates in many shapes, "05/18 10:12:51", syslog's "Mar  4 12:34:56", glog, a plain
/// clock and the kernel's seconds since boot in brackets.
[[nodiscard]] std::optional<FoundStamp> read_stamp(std::string_view text);

}  // namespace schedmate::lines
