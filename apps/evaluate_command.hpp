// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate evaluate`: docs/formats/experiment.md.

#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "settings/session.hpp"

namespace schedmate {

struct EvaluateRequest {
  std::vector<std::string> files;  ///< experiments, TOML
  std::vector<std::string> cited;  ///< experiments that the books show as they were run before
  std::string out;                 ///< folder of the CSVs
  std::string book;                ///< Markdown file; "" = none
};

/// Runs what is not there yet (of earlier code with a sample: the sample first, and only where it
/// comes out otherwise all), writes DIR/EXPERIMENT.csv, then DIR/evaluation.html and the book.
/// Errors: of the experiments' files, before anything runs; of running them; unavailable.
[[nodiscard]] Result<void> run_evaluate(const Session& session, const EvaluateRequest& request);

}  // namespace schedmate
