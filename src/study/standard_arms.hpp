// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arms that stand beside each comparison, so that it could be refuted.

#include <string>
#include <vector>

#include "study/experiment_file.hpp"

namespace schedmate::study {

/// The arm itself, then as LABEL.last_k (the mean duration and GPU use of the user's last jobs
/// instead of the Advisor: nothing is read), LABEL.oracle (true durations, counted in full),
/// LABEL.own and LABEL.all (controls: what the Advisor sees is exchanged among a user's jobs, or
/// among all jobs, of equal GPU count).
[[nodiscard]] std::vector<ExperimentArm> standard_arms(const ExperimentArm& arm);

/// LABEL.oracle of any of them.
[[nodiscard]] std::string oracle_of(const std::string& label);

}  // namespace schedmate::study
