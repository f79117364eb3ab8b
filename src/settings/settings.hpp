// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a user may set, one row each: in the settings file, with --set, or with a flag of its own.
/// Order of precedence: flag, settings file, default. Beside the rows there is a table [llm.NAME]
/// for each language model, with the keys of schedmate/llm.hpp.

#include <cstdint>
#include <map>
#include <schedmate/scheduler.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::settings {

enum class SettingKind : std::uint8_t {
  choice,
  flag,
  whole,
  count,
  seconds,
  folder,
  text,
  names  ///< in the file a list of texts, else joined by commas
};

struct SettingRow {
  std::string_view key;
  SettingKind kind = SettingKind::flag;
  std::string_view fallback;  ///< default value
  std::string_view choices;   ///< of a choice, separated by '|'; of a number the largest
  std::string_view effect;
  bool Defects::* defect = nullptr;  ///< the switch it sets; its default follows the mode
};
[[nodiscard]] std::span<const SettingRow> setting_rows();
/// "s" for seconds, "" for what has no unit.
[[nodiscard]] std::string_view unit_of(const SettingRow& row);
/// Whether it says what follows when a job fails: a cost that is on as soon as jobs fail.
[[nodiscard]] bool is_cost_of_failures(const SettingRow& row);

class Settings {
 public:
  /// Errors: not_found for an unknown key, naming the nearest; unsupported for a wrong value.
  Result<void> set(std::string_view key, std::string_view value, std::string_view origin);
  /// Every key of a TOML file; tables are joined to keys by a dot. Errors: invalid, with the line.
  Result<void> read_file(const std::string& path);

  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::string origin(std::string_view key) const;  ///< "default", "mode", file, flag
  [[nodiscard]] bool flag(std::string_view key) const { return text(key) == "true"; }
  [[nodiscard]] std::int64_t whole(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> names(std::string_view key) const;
  [[nodiscard]] Defects defects() const;
  /// Every NAME with a key llm.NAME.KEY, sorted.
  [[nodiscard]] std::vector<std::string> models() const;
  /// What was given for it: KEY -> value.
  [[nodiscard]] std::map<std::string, std::string> model(std::string_view name) const;

 private:
  struct Value {
    std::string text;
    std::string origin;
  };
  std::map<std::string, Value, std::less<>> given_;
};

}  // namespace schedmate::settings
