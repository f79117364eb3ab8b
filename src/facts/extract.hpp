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
/// Read once for the process.
[[nodiscard]] Rules builtin_rules();

/// Errors: invalid (empty or unreadable command, broken rules).
[[nodiscard]] Result<Facts> extract_facts_in(Tree& tree, const JobSource& job);

}  // namespace schedmate
