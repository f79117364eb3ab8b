// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads one table of a TOML file key by key. It keeps the first thing that is wrong, with file,
/// line and column, so a caller asks for all keys in a row and never looks back. A key that nobody
/// asked for is wrong, too: the message names the nearest key that there is.

#include <functional>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml_value.hpp"

namespace schedmate {

/// What a number may be, ends included.
struct Bounds {
  double low = 0, high = 0;
};

class TableReader {
 public:
  using Read = std::function<void(TableReader&)>;

  // An absent key is an error. What stands in `out` after an error means nothing.
  void text(std::string_view key, std::string& out);
  void number(std::string_view key, double& out, Bounds bounds);
  void whole(std::string_view key, int& out, Bounds bounds);
  /// Lists have 1 to 256 entries.
  void texts(std::string_view key, std::vector<std::string>& out);
  void numbers(std::string_view key, std::vector<double>& out, Bounds bounds);
  /// Lists of numbers, each as long as `width`.
  void rows(std::string_view key, std::vector<std::vector<double>>& out, std::size_t width,
            Bounds bounds);
  void wholes(std::string_view key, std::vector<int>& out, Bounds bounds);
  /// Tables headed [[key]], one at least; and one table within.
  void tables(std::string_view key, const Read& read);
  void table(std::string_view key, const Read& read);

  // The key may be absent: then `out` stays as it is. The answer is whether the key gave a value.
  bool maybe_text(std::string_view key, std::string& out);
  bool maybe_number(std::string_view key, double& out, Bounds bounds);
  bool maybe_flag(std::string_view key, bool& out);
  bool maybe_whole(std::string_view key, int& out, Bounds bounds);
  bool maybe_whole(std::string_view key, std::int64_t& out, Bounds bounds);
  bool maybe_texts(std::string_view key, std::vector<std::string>& out);
  bool maybe_numbers(std::string_view key, std::vector<double>& out, Bounds bounds);
  bool maybe_rows(std::string_view key, std::vector<std::vector<double>>& out, std::size_t width,
                  Bounds bounds);
  bool maybe_tables(std::string_view key, const Read& read);
  bool maybe_table(std::string_view key, const Read& read);
  /// One value or a list of them, empty lists too, each as text however long: "x", "0.5", "true".
  bool maybe_plain(std::string_view key, std::vector<std::string>& out);

  /// Gives `use` every value of this table, and of those within, whose keys dots join: "a.b.c".
  /// What `use` refuses is wrong at its place.
  void entries(const std::function<Result<void>(const std::string& key, const TomlValue&)>& use);
  /// The same with each value as text, as a settings file has them; a list is wrong.
  void plain_entries(
      const std::function<Result<void>(const std::string& key, const std::string& text)>& use);

  /// Where the value of a key stands; the table, when it has no such key.
  [[nodiscard]] TomlPlace place(std::string_view key) const;
  [[nodiscard]] TomlPlace place() const { return table_.place; }
  /// "FILE:LINE:COLUMN".
  [[nodiscard]] std::string where(TomlPlace place) const;
  /// The value of a key is wrong, or the whole table when it has no such key.
  void refuse(std::string_view key, std::string_view why);
  /// The table is wrong as a whole.
  void refuse(std::string_view why);

  /// Reads a whole file. Errors: invalid, "FILE:LINE:COLUMN: what, and what is needed".
  static Result<void> read(std::string_view toml, const std::string& file, const Read& read);

 private:
  TableReader(const TomlValue& table, const std::string& file, std::optional<Error>& error)
      : table_(table), file_(file), error_(error) {}
  using Use = std::function<Result<void>(const std::string&, const TomlValue&)>;
  void within(const TomlValue& table, const Read& read);
  void entries_of(const TomlValue& table, const std::string& prefix, const Use& use);
  [[nodiscard]] const TomlValue* find(std::string_view key) const;
  const TomlValue* maybe(std::string_view key);
  const TomlValue* need(std::string_view key);
  bool take_text(const TomlValue& value, std::string_view key, std::string& out);
  bool take_texts(const TomlValue& list, std::string_view key, std::vector<std::string>& out);
  bool take_numbers(const TomlValue& list, std::string_view key, std::vector<double>& out,
                    Bounds bounds);
  bool take_tables(const TomlValue& list, std::string_view key, const Read& read);
  bool take_table(const TomlValue& value, std::string_view key, const Read& read);
  bool take_plain(const TomlValue& value, std::string_view key, std::vector<std::string>& out);
  bool is_list(const TomlValue& value, std::string_view key);
  bool is_number(const TomlValue& value, std::string_view key, Bounds bounds);
  bool is_whole(const TomlValue& value, std::string_view key, Bounds bounds);
  void fail_at(TomlPlace place, std::string_view why);
  void check_keys();

  const TomlValue& table_;
  const std::string& file_;
  std::optional<Error>& error_;
  std::vector<std::string> known_;
};

}  // namespace schedmate
