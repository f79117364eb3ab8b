// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The chain itself, without the confinement that extract_facts() puts around it.

#include <schedmate/fact_rules.hpp>

#include "facts/keys.hpp"
#include "facts/tables.hpp"
#include "tree/tree.hpp"

struct schedmate::FactRules {
  facts::Keys keys;
  facts::Tables tables;
};

namespace schedmate::facts {

/// Errors: invalid (empty or unreadable command).
[[nodiscard]] Result<Facts> extract_facts_in(tree::Tree& tree, const JobSource& job,
                                             const FactRules& rules);

}  // namespace schedmate::facts
