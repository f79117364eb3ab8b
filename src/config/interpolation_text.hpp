// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The grammar of ${...}: where expressions begin and end, and what they are made of.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::config {

/// A literal part of a text, or the inside of one ${...}.
struct TextPart {
  std::string text;
  bool is_expression = false;
};

[[nodiscard]] bool has_expression(std::string_view text);
/// "a_${b}_c" as three parts; `\${` is literal. Nothing when a brace is not closed.
[[nodiscard]] std::optional<std::vector<TextPart>> split_expressions(std::string_view text);

/// "oc.env:HOME,/tmp": name and arguments as written, commas within quotes, brackets and ${}
/// untouched.
struct ResolverCall {
  std::string_view name;
  std::string_view rest;  ///< all behind the colon
  std::vector<std::string_view> arguments;
};
/// Nothing when the inside of ${...} is a reference.
[[nodiscard]] std::optional<ResolverCall> split_resolver(std::string_view inside);

/// "..a.b[0]["x.y"]": leading dots, then keys.
struct Reference {
  std::size_t dots = 0;
  std::vector<std::string> keys;
};
[[nodiscard]] Reference split_reference(std::string_view text);

}  // namespace schedmate::config
