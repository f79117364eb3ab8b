// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/generate.hpp"

namespace schedmate::screen {

[[nodiscard]] std::string resampled_text(const lab::GenerateRequest& request,
                                         const synth::Resampled& drawn);
/// Size, what is not checked, and the statistics asked and drawn.
[[nodiscard]] std::string synthetic_text(const lab::GenerateRequest& request,
                                         const lab::SyntheticTrace& trace);

}  // namespace schedmate::screen
