// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/report.hpp"

namespace schedmate::service {

/// Totals, groups, causes and nodes of the report's jobs, which are sorted, or left out with `by`.
void add_sums(const ReportQuestion& question, UsageReport& report);

/// The names of a host list; a list that cannot be read stays one name.
[[nodiscard]] std::vector<std::string> hosts_of(const std::string& list);

}  // namespace schedmate::service
