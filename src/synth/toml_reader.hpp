// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reads a TOML table key by key and remembers the first thing that is wrong with it.

#include <toml++/toml.h>

#include <optional>
#include <schedmate/result.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "synth/published.hpp"

namespace schedmate {

struct Bounds {
  double low = 0;
  double high = 1e15;
};

class TomlReader {
 public:
  TomlReader(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  /// The key must be there; outside the bounds is an error.
  [[nodiscard]] double number(std::string_view key, Bounds bounds = {});
  [[nodiscard]] double number_or(std::string_view key, double otherwise, Bounds bounds = {});
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::string text_or(std::string_view key, std::string otherwise);
  [[nodiscard]] bool flag_or(std::string_view key, bool otherwise);
  /// `count` numbers; 0: at least one.
  [[nodiscard]] std::vector<double> numbers(std::string_view key, std::size_t count);
  /// Pairs that rise in x, do not fall in percent and end at most at 100.
  [[nodiscard]] Cdf cdf(std::string_view key);
  /// Lists of `width` numbers each.
  [[nodiscard]] std::vector<std::vector<double>> rows(std::string_view key, std::size_t width);
  /// The tables of [[key]]; none when the key is absent.
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

  /// The first error, or one about a key that nothing asked for.
  [[nodiscard]] Result<void> done() const;
  void complain(std::string_view key, std::string_view why);

 private:
  const toml::node* find(std::string_view key);
  std::vector<double> list(std::string_view key, const toml::node& node, std::size_t count);

  const toml::table& table_;
  std::string file_;
  std::set<std::string, std::less<>> asked_;
  std::optional<Error> error_;
};

}  // namespace schedmate
