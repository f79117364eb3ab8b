// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Python's builtins, as natives that may use the interpreter.

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {

using Builtin = Value (*)(Interpreter& in, const Arguments& arguments);
using BuiltinTable = std::map<std::string_view, Builtin>;

void add_number_builtins(BuiltinTable& table);
void add_container_builtins(BuiltinTable& table);
void add_object_builtins(BuiltinTable& table);
void add_program_builtins(BuiltinTable& table);  ///< eval, exec, globals, import, sys.path

/// The text of `format % values`; nothing when a part is not known.
[[nodiscard]] std::optional<std::string> percent_format(Interpreter& in, const std::string& format,
                                                        const Value& values);

/// The argument at a position; nullptr when not given.
[[nodiscard]] inline const Value* argument_at(const Arguments& arguments, std::size_t position) {
  return position < arguments.positional.size() ? &arguments.positional[position] : nullptr;
}

}  // namespace schedmate::python
