// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A log line as a person would read it: escape sequences and control characters are gone, a bar
/// that was drawn over itself with carriage returns is cut into its states, and what launchers and
/// loggers put in front (time stamp, rank, level, module) is distinguished from what was said.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::lines {

struct Stamp {
  double seconds = 0;  ///< since the epoch, or since midnight where no date is printed
  bool dated = false;
  double resolution_s = 1;
};

/// One state of a line.
struct PrefixedLine {
  std::string_view body;   ///< after the prefixes
  std::string_view whole;  ///< with them
  std::optional<Stamp> time;
  int rank = -1;   ///< -1: none is printed
  char level = 0;  ///< 'E', 'F' (fatal, critical), 'W', 'I', 'D'; 0: none is printed
};

/// The text without escape sequences and control characters other than tab and carriage return,
/// into `scratch`; `raw` itself when there are none.
[[nodiscard]] std::string_view without_escapes(std::string_view raw, std::string& scratch);

/// The states of a line that carriage returns separate, empty ones left out.
[[nodiscard]] std::vector<std::string_view> states_of(std::string_view clean);

/// Prefixes distinguished, nested ones too.
[[nodiscard]] PrefixedLine read_prefixes(std::string_view state);

/// Makes a text of a log fit to be shown: secrets out, no control characters.
using CleanText = std::function<std::string(std::string_view)>;

}  // namespace schedmate::lines
