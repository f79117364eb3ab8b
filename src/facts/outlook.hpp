// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether the job trains at all.

#include "facts/finding.hpp"

namespace schedmate::facts {

struct Expectation {
  Outlook outlook = Outlook::runs;
  std::string reason;
};

/// Evaluation only: a switch or mode that the command sets, or a program that builds no optimiser
/// and is called so. Fails early: the program stops on its certain path before it trains.
[[nodiscard]] Expectation expect(const Scene& scene);

/// The same, and unknown where nothing was read that trains, or more processes are started, or more
/// parts made of the model, than there are GPUs.
[[nodiscard]] Expectation expect_of_job(tree::Tree& tree, const Scene& scene);

/// How much the program looks like a training: 0 for none. Chooses among several programs.
[[nodiscard]] int training_signs(const Scene& scene);

}  // namespace schedmate::facts
