// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rows of a rule table (TOML) as plain values. The built-in table comes last: rows of an
/// operator's folder come first and so have the first word.

#include <map>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::lines {

/// A row; a single text is a list of one, numbers and switches are texts.
struct RuleRow {
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::string place;  ///< "rules/NAME.toml:LINE:COLUMN"

  [[nodiscard]] const std::string& text(std::string_view key) const;
  [[nodiscard]] const std::vector<std::string>& list(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return values.contains(key); }
  /// What is wrong with a row, with its place.
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view what) const;
};

struct RuleTable {
  std::string_view file;  ///< "failures.toml"
  std::string_view kind;  ///< of its [[rows]]
  std::vector<std::string_view> keys;
  std::string_view text;  ///< the built-in table
};

/// The rows of `folder`/FILE, where there is such a folder and file, then the built-in ones.
/// Errors: as TableReader::read, those of reading.
[[nodiscard]] Result<std::vector<RuleRow>> rule_rows(const RuleTable& table,
                                                     const std::string& folder);

}  // namespace schedmate::lines
