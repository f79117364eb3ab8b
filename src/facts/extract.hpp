// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The chain itself, without the confinement that extract_facts() puts around it.

#include "facts/keys.hpp"
#include "facts/tables.hpp"
#include "tree/tree.hpp"

namespace schedmate {

struct Rules {
  const Keys* keys = nullptr;
  const Tables* tables = nullptr;
  std::string broken;  ///< why they could not be read; "" when they are good
};
/// The built-in tables with the rows of an operator's folder ("" = none); each read once for the
/// process.
[[nodiscard]] Rules rules_with(const std::string& folder);

/// Errors: invalid (empty or unreadable command, broken rules).
[[nodiscard]] Result<Facts> extract_facts_in(Tree& tree, const JobSource& job);

}  // namespace schedmate
