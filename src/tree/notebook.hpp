// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The code of a Jupyter notebook.

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::tree {

/// The code cells alone, each line of code at the line of the file that holds it, so that a line
/// number means the same in both; where a file has several on one line, they follow each other.
/// Magics ("%pip", "!ls", "?") become comments. Errors: invalid (no notebook).
[[nodiscard]] Result<std::string> notebook_code(std::string_view text);

}  // namespace schedmate::tree
