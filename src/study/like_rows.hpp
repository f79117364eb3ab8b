// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "synth/synthesis.hpp"

namespace schedmate::study {

/// The columns after those of the helios format are all invented as well, hence syn_.
[[nodiscard]] std::string synth_header();

/// One line of jobs.csv for job `index`, with its end of line.
void append_synth_row(const Published& published, const Synthesis& drawn, std::size_t index,
                      std::string& text);

/// Statistics asked and drawn, for people.
[[nodiscard]] std::string check_text(const Synthesis& drawn);

/// Percent of the failed jobs, and of their GPU time, whose cause is infrastructure.
struct InfrastructureShare {
  double jobs_percent = 0;
  double gpu_time_percent = 0;
};
[[nodiscard]] InfrastructureShare infrastructure_share(const Published& published,
                                                       const Synthesis& drawn);

}  // namespace schedmate::study
