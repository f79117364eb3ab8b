// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <schedmate/report.hpp>

#include "base/table.hpp"
#include "report/columns.hpp"

namespace schedmate {

std::string results_table(std::span<const RunSummary> runs, std::size_t columns) {
  // As wide as most figures, so that they stand in the same places after each run.
  const std::vector<TableColumn> names{{"policy"},
                                       {" avg JCT s", 0, true},
                                       {" p99 JCT s", 3, true},
                                       {"avg wait s", 1, true},
                                       {"utilisation", 2, true},
                                       {"makespan s", 4, true},
                                       {"  CPU ms", 5, true}};
  const report::Scale whole{1, "", 0};
  std::vector<std::vector<Cell>> rows;
  for (const RunSummary& run : runs) {
    rows.push_back({printable(run.run.label), report::number(run.jct_s.average, whole),
                    report::number(run.jct_s.p99, whole),
                    report::number(run.queue_s.average, whole),
                    report::number(run.utilisation, {0.01, "%", 1}) + " %",
                    report::number(static_cast<double>(run.makespan.count()), whole),
                    report::number(run.run.cpu_ms, {1, "", 1})});
  }
  return table_text(names, rows, columns);
}

}  // namespace schedmate
