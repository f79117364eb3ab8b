// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of a synthetic trace, as `generate --like` writes them (docs/formats/generate.md).

#include <string>

#include "synth/synthesis.hpp"

namespace schedmate::study {

/// The columns after those of the helios format are all invented as well, hence syn_.
[[nodiscard]] std::string synth_header();

/// One line of jobs.csv for job `index`, with its end of line.
void append_synth_row(const synth::Published& published, const synth::Synthesis& drawn,
                      std::size_t index, std::string& text);

}  // namespace schedmate::study
