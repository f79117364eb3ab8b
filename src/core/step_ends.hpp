// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the steps of a job ended: which of them tells why it failed, in words and as a document.

#include <schedmate/connector.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/document.hpp"

namespace schedmate {

/// At most so many are kept of a job: where there are more, those that ended well go first.
inline constexpr std::size_t most_steps = 32;

/// Whether the script started it (srun): not the script itself, nor what holds or opens a job
/// ("batch", "extern", "interactive", in any part of a heterogeneous one).
[[nodiscard]] bool is_of_script(const SeenStep& step);
/// The first that did not end well, of those that the script started; null: none, or it was the
/// script itself.
[[nodiscard]] const SeenStep* failed_step(std::span<const SeenStep> steps);
/// "step 0 (train) on n0 n1 was killed by signal 9".
[[nodiscard]] std::string step_words(const SeenStep& step);

/// Names of at most 256 characters, and of nodes at most 256 in all: of a step for which there are
/// too many none are named, as where the cluster does not tell.
[[nodiscard]] Document steps_document(std::span<const SeenStep> steps);
/// Of a steps_document(); what is not like one is left out.
[[nodiscard]] std::vector<SeenStep> steps_in(const Document& document);

}  // namespace schedmate
