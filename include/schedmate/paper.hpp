// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Constants of the paper; where it leaves a choice, docs/decisions says what was taken.

#include <cstddef>

namespace schedmate::paper {

inline constexpr double similarity_threshold = 0.90;  ///< cosine of BGE-m3 vectors (4.1)
inline constexpr std::size_t similar_jobs = 3;        ///< neighbours that are averaged (4.1)

}  // namespace schedmate::paper
