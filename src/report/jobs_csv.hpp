// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CSVs of one label: docs/formats/jobs-csv.md and docs/formats/timeline-csv.md.

#include <schedmate/report.hpp>
#include <string>

namespace schedmate::report {

[[nodiscard]] Result<void> write_jobs_csv(const std::string& path, const RunRecord& record);
[[nodiscard]] Result<void> write_timeline_csv(const std::string& path, const Timeline& timeline);
[[nodiscard]] Result<void> write_scaling_csv(const std::string& path, const SimResult& result);

}  // namespace schedmate::report
