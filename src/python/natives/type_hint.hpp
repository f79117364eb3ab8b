// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A type annotation, as far as a command-line parser needs it.

#include "python/natives/support.hpp"

namespace schedmate::python::natives {

struct TypeHint {
  FlagType type = FlagType::literal;
  bool is_list = false;
  bool optional = false;
  bool positional = false;           ///< typer.Argument(), tyro.conf.Positional
  int count = 0;                     ///< of a tuple of fixed length; 0 = any
  std::vector<std::string> choices;  ///< of Literal["a", "b"]
  std::string class_name;            ///< as written, when it is none of the simple types
  [[nodiscard]] bool is_boolean() const { return type == FlagType::yes_no && !is_list; }
};

[[nodiscard]] TypeHint read_type_hint(std::string_view annotation);
/// Where there is no annotation: by the default.
[[nodiscard]] TypeHint hint_of_value(const Value& fallback);

}  // namespace schedmate::python::natives
