// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The chain itself, without the confinement that extract_facts() puts around it.

#include "facts/keys.hpp"
#include "facts/tables.hpp"
#include "tree/tree.hpp"

namespace schedmate {

/// General knowledge, read once by whoever asks for facts.
struct Rules {
  Keys keys;
  Tables tables;
};
/// The built-in tables with the rows of an operator's folder ("" = none). Errors: those of the
/// folder's files, with the name of the file.
[[nodiscard]] Result<Rules> load_rules(const std::string& folder);

/// Errors: invalid (empty or unreadable command).
[[nodiscard]] Result<Facts> extract_facts_in(Tree& tree, const JobSource& job, const Rules& rules);

}  // namespace schedmate
