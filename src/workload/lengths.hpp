// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Training lengths that explain a stated share of the durations (WorkloadOptions::length_share).

#include <cstdint>
#include <schedmate/workload.hpp>
#include <span>
#include <vector>

namespace schedmate::workload {

/// The lengths that can be drawn, ascending, a factor 1.05 apart.
[[nodiscard]] std::vector<double> length_grid();

/// For each row a place in length_grid(). Of log durations, between the means of templates and
/// within each of them, lengths explain `share`, and a job twice as long runs twice as long on
/// average; what is left is the template's and the job's own. A template whose runs all take as
/// long has one length.
[[nodiscard]] std::vector<std::uint16_t> draw_lengths(
    const Trace& trace, std::span<const std::uint32_t> template_of_row, double share,
    std::uint64_t seed);

}  // namespace schedmate::workload
