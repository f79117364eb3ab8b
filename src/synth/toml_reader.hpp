// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads a TOML table key by key and remembers the first thing that is wrong with it.

#include <functional>
#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "synth/published.hpp"

namespace schedmate {

struct KeyRange {
  double low = 0;
  double high = 1e15;
};

struct TomlTable;

class TomlReader {
 public:
  TomlReader(std::shared_ptr<const TomlTable> table, std::string file);

  /// The key must be there; outside the bounds is an error.
  [[nodiscard]] double number(std::string_view key, KeyRange bounds = {});
  [[nodiscard]] double number_or(std::string_view key, double otherwise, KeyRange bounds = {});
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::string text_or(std::string_view key, std::string otherwise);
  [[nodiscard]] bool flag_or(std::string_view key, bool otherwise);
  /// `count` numbers; 0: at least one.
  [[nodiscard]] std::vector<double> numbers(std::string_view key, std::size_t count);
  /// Pairs that rise in x, do not fall in percent and end at 100.
  [[nodiscard]] Cdf cdf(std::string_view key);
  /// Lists of `width` numbers each.
  [[nodiscard]] std::vector<std::vector<double>> rows(std::string_view key, std::size_t width);
  /// Reads each table of [[key]]; none when the key is absent.
  void tables(std::string_view key, const std::function<void(TomlReader&)>& read);
  [[nodiscard]] bool has(std::string_view key) const;

  /// The first error, or one about a key that nothing asked for.
  [[nodiscard]] Result<void> done() const;
  void complain(std::string_view key, std::string_view why);

 private:
  std::shared_ptr<const TomlTable> table_;
  std::string file_;
  std::set<std::string, std::less<>> asked_;
  std::optional<Error> error_;
};

/// Reads a whole file. Errors: invalid, with file, line and column.
[[nodiscard]] Result<void> read_toml(std::string_view text, const std::string& file,
                                     const std::function<void(TomlReader&)>& read);

}  // namespace schedmate
