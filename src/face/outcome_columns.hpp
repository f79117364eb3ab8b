// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One replay as the columns of schedmate_policy.h.

#include <schedmate/report.hpp>
#include <vector>

#include "face/job_columns.hpp"

namespace schedmate::face {

/// What it gives is valid as long as it and the record are.
class OutcomeColumns {
 public:
  [[nodiscard]] const schedmate_outcomes* fill(const RunRecord& record);

 private:
  void add(const Job& job, const JobOutcome& outcome);
  void add(const TimelineBin& bin);

  TextColumn ids_, users_, vcs_, nodes_;
  std::vector<std::int32_t> gpus_, preemptions_, evictions_;
  std::vector<std::int64_t> submits_, durations_, starts_, ends_, queues_;
  std::vector<double> held_, busy_, stranded_, queued_, queued_gpus_, running_, used_;
  std::vector<std::uint8_t> statuses_;
  schedmate_outcomes told_{};
};

}  // namespace schedmate::face
