// SPDX-License-Identifier: Apache-2.0
#pragma once

/// slurm.conf as Slurm reads it: comments and continued lines, several settings on a line, quotes,
/// includes. Every byte is known by its place, so that a change leaves all others as they are.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::slurm {

struct ConfValue {
  std::string key{};     ///< in small letters
  std::string value{};   ///< without quotes
  std::size_t end = 0;   ///< of the value, in the text; 0: there is no value
  bool is_plain = true;  ///< not so where it is added to ("+=") or holds a backslash
};

/// One line, with those that continue it.
struct ConfLine {
  std::size_t begin = 0, end = 0;  ///< in the text, with the line end
  std::size_t number = 1;          ///< of the first, from 1
  std::vector<ConfValue> values{};
  std::string include{};  ///< the file that is read here; "": none
};

[[nodiscard]] std::vector<ConfLine> conf_lines(std::string_view text);

}  // namespace schedmate::slurm
