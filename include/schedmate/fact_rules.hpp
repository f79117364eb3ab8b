// SPDX-License-Identifier: Apache-2.0
#pragma once

/// General knowledge that facts are found with: names of models, data sets and optimisers, defaults
/// of libraries, names of settings (rules/*.toml; docs/formats/rules.md). A value that is read once
/// and never changes; threads may share it. Reading it takes about as long as reading a small job
/// (25 ms): whoever reads many jobs keeps it, and reads it again when the operator's folder
/// changes.

#include <memory>
#include <schedmate/facts.hpp>
#include <schedmate/result.hpp>
#include <string>

namespace schedmate {

struct FactRules;

/// The built-in tables with the rows of an operator's folder ("" = none). Errors: invalid, with the
/// name of the file.
[[nodiscard]] Result<std::shared_ptr<const FactRules>> load_fact_rules(const std::string& folder);

/// As extract_facts(job), by these rules; `job.rules` does not count.
[[nodiscard]] Result<Facts> extract_facts(const JobSource& job, const FactRules& rules);

/// Of the answers with at least this confidence, 97 % were right on labelled jobs
/// (docs/confidence.md).
[[nodiscard]] double careful_confidence(const FactRules& rules);

}  // namespace schedmate
