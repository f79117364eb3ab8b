// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the joint distribution starts from: type, GPUs and run time independent of each other.

#include "synth/joint.hpp"

namespace schedmate::synth {

/// The steps of the type's CDF up to the longest run; those of an hour's order and beyond in
/// quarters, so that the fit can shift weight within them.
[[nodiscard]] std::vector<RunSlot> run_slots(const WorkType& type, double max_run_s);

/// Share of the slots within the type: the CDF, even within a step on the logarithm.
[[nodiscard]] std::vector<double> slot_shares(const WorkType& type,
                                              const std::vector<RunSlot>& slots);

/// Share of the GPU counts within the type: a quarter between two marks of its box plot, even over
/// the powers of two there, and one percent over all counts. Without a box plot: the cluster's CDF.
[[nodiscard]] std::vector<double> gpu_prior(const ClusterFigures& cluster, const WorkType& type,
                                            const std::vector<double>& gpus);

/// Shares of the end states of jobs with these GPUs and this run time.
[[nodiscard]] StateShares state_prior(const Published& published, double gpus, double run_s);

/// Percent of a CDF at x; 0 before its first point.
[[nodiscard]] double percent_at(const Cdf& cdf, double x);

}  // namespace schedmate::synth
