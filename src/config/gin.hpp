// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gin's files and bindings: `scope/module.function.parameter = value`, `MACRO = value`,
/// `include 'file'`. Values stay text: what `@name` and `%MACRO` stand for is known only once the
/// program has named its functions.

#include "config/value_names.hpp"

namespace schedmate::config {

struct GinStatement {
  enum class Kind : std::uint8_t { binding, macro, include } kind = Kind::binding;
  std::string scope;      ///< "train" of train/make.size
  std::string selector;   ///< last part of the function's name
  std::string parameter;  ///< or the macro's name
  std::string value;      ///< as written; the file of an include
  PlacePtr place;
};

/// Statements in order; what is neither is left out. Places are lines of `file`, or `given` where
/// the text is a word of the command.
[[nodiscard]] std::vector<GinStatement> parse_gin(std::string_view text, std::string_view file,
                                                  const PlacePtr& given = {});

/// The items of "[a, (b, c)]" or "(a, b)"; nothing for what is no such list.
[[nodiscard]] std::optional<std::vector<std::string_view>> gin_items(std::string_view text);

}  // namespace schedmate::config
