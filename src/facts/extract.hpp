// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The chain itself, without the confinement that extract_facts() puts around it.

#include <functional>
#include <schedmate/fact_rules.hpp>

#include "facts/confidence.hpp"
#include "facts/keys.hpp"
#include "facts/tables.hpp"
#include "tree/tree.hpp"

struct schedmate::FactRules {
  facts::Keys keys;
  facts::Tables tables;
  Confidence confidence;
};

namespace schedmate::facts {

/// Is given what has been read so far, for the case that reading goes no further.
using KeepFacts = std::function<void(const Facts&)>;

/// Errors: invalid (empty or unreadable command).
[[nodiscard]] Result<Facts> extract_facts_in(tree::Tree& tree, const JobSource& job,
                                             const FactRules& rules, const KeepFacts& keep = {});

/// What the command asks of its scheduler, without reading the program. Errors: as above.
[[nodiscard]] Result<Facts> extract_request_in(tree::Tree& tree, const JobSource& job);

}  // namespace schedmate::facts
