// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `evaluate` says: a line for each experiment while it runs, then what came out.

#include <string>
#include <vector>

#include "base/document.hpp"
#include "lab/evaluate.hpp"

namespace schedmate::screen {

[[nodiscard]] std::string done_text(const lab::ExperimentDone& done);
/// A line for each arm, and which files were written; `report` "": none.
[[nodiscard]] std::string evaluation_text(const lab::Evaluation& evaluation,
                                          const std::string& report);
[[nodiscard]] std::string shard_text(const lab::ShardMade& made);
/// schedmate.evaluate_shard.v1.
[[nodiscard]] Document shard_document(const std::string& shard,
                                      const std::vector<lab::ShardMade>& all);

}  // namespace schedmate::screen
