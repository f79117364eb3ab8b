// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <schedmate/report.hpp>

#include "base/table.hpp"
#include "base/words.hpp"
#include "report/columns.hpp"

namespace schedmate {

std::string results_table(std::span<const RunSummary> runs, std::size_t columns) {
  // As wide as most figures, so that they stand in the same places after each run.
  std::vector<TableColumn> names{{"policy"},
                                 {"   avg JCT", 0, true},
                                 {"   p99 JCT", 4, true},
                                 {"  avg wait", 1, true},
                                 {"utilisation", 3, true},
                                 {"makespan", 5, true},
                                 {"  CPU ms", 6, true}};
  const bool compared = runs.size() > 1;
  if (compared)
    names.insert(names.begin() + 2, {.name = "/ first", .rank = 2, .to_the_right = true});
  std::vector<std::vector<Cell>> rows;
  for (const RunSummary& run : runs) {
    const auto words = [](double seconds) { return in_words(FractionalSeconds(seconds)); };
    std::vector<Cell> row{printable(run.run.label),
                          words(run.jct_s.average),
                          words(run.jct_s.p99),
                          words(run.queue_s.average),
                          report::number(run.utilisation, {0.01, "%", 1}) + " %",
                          in_words(run.makespan),
                          report::number(run.run.cpu_ms, {1, "", 1})};
    const double ratio = run.jct_s.average / runs.front().jct_s.average;
    if (compared)
      row.insert(row.begin() + 2, std::isfinite(ratio) ? fmt::format("{:.3f}", ratio) : "");
    rows.push_back(std::move(row));
  }
  return table_text(names, rows, columns);
}

}  // namespace schedmate
