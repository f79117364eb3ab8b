// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Secrets out of everything that leaves with the facts: evidence, values, candidates, notes.

#include <schedmate/facts.hpp>

#include "tree/tree.hpp"

namespace schedmate::facts {

/// Redacts whole files and the whole command first and takes the evidence lines from there, since a
/// key that is cut is not recognised.
void redact_facts(tree::Tree& tree, const std::string& command, Facts& facts);

}  // namespace schedmate::facts
