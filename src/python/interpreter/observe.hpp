// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a Python program would do, seen without running it.
///
/// `observe` interprets the entry script's syntax tree over abstract values: flags are bound to the
/// command's words, configs are read, local imports and calls are followed, `if` on a known value
/// takes one branch and on an unknown one both (what happens there is not `certain`). Calls of
/// anything outside the tree are recorded, not followed. Steps, depth and files are bounded; at a
/// bound the rest is left out and the note says so.

#include "python/objects/observation.hpp"

namespace schedmate::python {

/// Errors: not_found (no such script or module in the tree), invalid (not Python).
[[nodiscard]] Result<Observation> observe(tree::Tree& tree, const PythonRun& run);

/// A Python file that is itself a config: top-level names after running it, `_base_` chains merged
/// as mmengine does (`_delete_`, {{_base_.x}}, read_base()).
[[nodiscard]] Result<Value> read_python_config(tree::Tree& tree, std::string_view path);

}  // namespace schedmate::python
