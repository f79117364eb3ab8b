// SPDX-License-Identifier: Apache-2.0
#pragma once

/// .schedmateignore: which files of a tree are nobody's business, in the form of .gitignore
/// (comments, "!" to take back, "folder/", "*", "?", "[a-z]", "**", a leading "/" for the root).

#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::tree {

class IgnoreRules {
 public:
  static constexpr std::size_t most_patterns = 1000;
  static constexpr std::size_t most_bytes = 400;  ///< of one pattern

  /// Errors: invalid (beyond a limit), with the line.
  static Result<IgnoreRules> parse(std::string_view text);

  /// The last pattern that fits decides. What lies in an ignored folder is ignored, as in git.
  [[nodiscard]] bool ignores(std::string_view path, bool is_folder) const;

 private:
  struct Pattern {
    std::vector<std::string> parts;  ///< between '/'; "**" stands for any number of folders
    bool take_back = false;
    bool folders_only = false;
  };
  static Result<Pattern> parse_line(std::string_view line, int number);
  [[nodiscard]] bool last_says(std::string_view path, bool is_folder) const;
  std::vector<Pattern> patterns_;
};

/// '*', '?' and "[...]" within one part of a path; '\' takes the next letter as it is.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace schedmate::tree
