// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <schedmate/report.hpp>

#include "report/columns.hpp"
#include "report/text_safety.hpp"

namespace schedmate {

std::string results_table(std::span<const RunSummary> runs) {
  constexpr std::string_view row = "{:<{}}  {:>10}  {:>10}  {:>10}  {:>11}  {:>10}  {:>8}\n";
  // A label may hold control characters, which would steer the terminal.
  const auto shown = [](const RunSummary& run) {
    std::string label = report::clean_utf8(run.run.label);
    std::ranges::replace_if(label, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
    return label;
  };
  std::size_t width = 6;
  for (const RunSummary& run : runs) width = std::max(width, shown(run).size());
  std::string text = fmt::format(row, "policy", width, "avg JCT s", "p99 JCT s", "avg wait s",
                                 "utilisation", "makespan s", "CPU ms");
  const report::Scale whole{1, "", 0};
  for (const RunSummary& run : runs) {
    fmt::format_to(std::back_inserter(text), row, shown(run), width,
                   report::number(run.jct_s.average, whole), report::number(run.jct_s.p99, whole),
                   report::number(run.queue_s.average, whole),
                   report::number(run.utilisation, {0.01, "%", 1}) + " %",
                   report::number(static_cast<double>(run.makespan.count()), whole),
                   report::number(run.run.cpu_ms, {1, "", 1}));
    if (run.finished == run.jobs) continue;
    fmt::format_to(std::back_inserter(text), "{:<{}}  {} infeasible, {} stalled of {} jobs\n", "",
                   width, run.infeasible, run.stalled, run.jobs);
  }
  return text;
}

}  // namespace schedmate
