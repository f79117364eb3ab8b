// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads one table of a TOML file key by key. The first thing that is wrong is kept with file, line
/// and column, so that a caller asks for all keys in a row; a key that nobody asked for is wrong,
/// too, and named with the nearest that there is.

#include <functional>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml_value.hpp"

namespace schedmate {

/// What a number may be.
struct Bounds {
  double low = 0, high = 0;
};

class TableReader {
 public:
  using Read = std::function<void(TableReader&)>;

  // A key that is absent is an error; of those called maybe_, `out` stays as it is.
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

  void maybe_text(std::string_view key, std::string& out);
  void maybe_number(std::string_view key, double& out, Bounds bounds);
  void maybe_flag(std::string_view key, bool& out);
  void maybe_whole(std::string_view key, int& out, Bounds bounds);
  void maybe_numbers(std::string_view key, std::vector<double>& out, Bounds bounds);
  void maybe_tables(std::string_view key, const Read& read);
  void maybe_rows(std::string_view key, std::vector<std::vector<double>>& out, std::size_t width,
                  Bounds bounds);

  /// Something is wrong with the value of a key; with the whole table when it has no such key.
  void refuse(std::string_view key, std::string_view why);

  /// Reads a whole file. Errors: invalid, "FILE:LINE:COLUMN: what, and what is needed".
  static Result<void> read(std::string_view toml, const std::string& file, const Read& read);

 private:
  TableReader(const TomlValue& table, const std::string& file, std::optional<Error>& error)
      : table_(table), file_(file), error_(error) {}
  void within(const TomlValue& table, const Read& read);
  const TomlValue* maybe(std::string_view key);
  const TomlValue* need(std::string_view key);
  void take_text(const TomlValue& value, std::string_view key, std::string& out);
  void take_numbers(const TomlValue& list, std::string_view key, std::vector<double>& out,
                    Bounds bounds);
  void take_tables(const TomlValue& list, std::string_view key, const Read& read);
  bool is_list(const TomlValue& value, std::string_view key);
  bool is_number(const TomlValue& value, std::string_view key, Bounds bounds);
  bool is_whole(const TomlValue& value, std::string_view key, Bounds bounds);
  void fail_at(TomlPlace place, std::string_view why);
  void check_keys();

  const TomlValue& table_;
  const std::string& file_;
  std::optional<Error>& error_;
  std::vector<std::string_view> known_;
};

}  // namespace schedmate
