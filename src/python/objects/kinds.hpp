// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The node types and fields of tree-sitter's Python grammar that the interpreter knows.

#include <cstdint>

namespace schedmate::python {

enum class Kind : std::uint8_t {
#define KIND(name, text) name,
#include "python/objects/kinds.inc"
#undef KIND
};

enum class Field : std::uint8_t {
  none,
#define FIELD(name, text) name,
#include "python/objects/fields.inc"
#undef FIELD
};

}  // namespace schedmate::python
