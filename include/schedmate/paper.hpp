// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Constants of the paper. Where it leaves a choice, docs/decisions says what was taken.

#include <cstddef>

namespace schedmate::paper {

/// Cosine of BGE-m3 vectors from which two jobs count as similar (paper 4.1).
inline constexpr double similarity_threshold = 0.90;
/// So many of the most similar jobs make the mean that the Advisor gives (paper 4.1).
inline constexpr std::size_t similar_jobs = 3;

}  // namespace schedmate::paper
