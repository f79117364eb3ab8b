// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Words as values, in the dialects of the libraries that read them.

#include <string_view>

#include "config/value_names.hpp"

namespace schedmate::config {

/// Bounds on what a config may hold, for every reader: nodes after expansion of aliases and
/// references, nesting, and characters that an interpolation may grow to.
inline constexpr std::size_t most_nodes = 1'000'000;
inline constexpr int most_nesting = 200;
inline constexpr std::size_t most_characters = 64 << 10;

enum class Dialect : std::uint8_t {
  pyyaml,     ///< YAML 1.1: yes/on are true, 017 is octal, 1e-3 is text
  omegaconf,  ///< as PyYAML, but 1e-3 is a number
  hydra,      ///< overrides: only true and false are booleans
};

/// A plain (unquoted) word: null, boolean, integer, real or text.
[[nodiscard]] Value::Data read_word(std::string_view text, Dialect dialect);

/// A word, a quoted text, a [list] or a {dict} as written in an override; what does not parse as a
/// whole is one text.
[[nodiscard]] Value read_override(std::string_view text, Dialect dialect, const PlacePtr& place);

}  // namespace schedmate::config
