// SPDX-License-Identifier: Apache-2.0
#include "apps/eta_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/screen.hpp"
#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

using service::Eta;
using service::EtaJob;

std::string until(SimTime when, SimTime now) {
  return when == never ? "later" : in_words(when - now);
}

std::string jobs_awaited(const EtaJob& job) {
  std::string text;
  for (const EtaJob::Awaited& each : job.awaited)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", printable(each.id),
                        100 * each.share);
  return text.empty() ? unknown_cell : text;
}

std::vector<const EtaJob*> in_order(const Eta& eta, bool running) {
  std::vector<const EtaJob*> jobs;
  for (const EtaJob& job : eta.jobs)
    if (job.started.has_value() == running) jobs.push_back(&job);
  std::ranges::stable_sort(
      jobs, {}, [&](const EtaJob* job) { return running ? job->end.p50 : job->start->p50; });
  return jobs;
}

std::string jobs_table(const Eta& eta, const ScreenStyle& style, std::size_t most, bool running) {
  const std::vector<TableColumn> columns = {{"JobID", 0},
                                            {"User", 3},
                                            {"Partition", 4},
                                            {"GPUs", 0, true},
                                            {running ? "Ran" : "Waited", 2, true},
                                            {running ? "Ends in" : "Starts in", 0},
                                            {"Why", 1},
                                            {"Ends it waits for", 5, false, 20}};
  std::vector<std::vector<Cell>> rows;
  const auto jobs = in_order(eta, running);
  for (const EtaJob* job : jobs) {
    if (most > 0 && rows.size() == most) break;
    rows.push_back({{style.cell(printable(job->id), 20)},
                    {style.cell(printable(job->user), 12)},
                    {style.cell(printable(job->partition), 12)},
                    {fmt::format("{}", job->gpus)},
                    {in_words(eta.now - job->started.value_or(job->submit))},
                    {span_text(running ? job->end : *job->start, eta.now)},
                    {running ? "runs" : printable(spaced(job->reason))},
                    {running ? unknown_cell : jobs_awaited(*job)}});
  }
  std::string text = table_text(columns, rows, style.width);
  if (rows.size() < jobs.size())
    text += fmt::format("... and {} more (--limit 0 shows all)\n", jobs.size() - rows.size());
  return text;
}

}  // namespace

std::string span_text(const InstantQuantiles& told, SimTime now) {
  if (told.p50 == never) return "never";
  return fmt::format("{} ({} to {})", until(told.p50, now), until(told.p10, now),
                     until(told.p90, now));
}

std::string eta_text(const Eta& eta, const ScreenStyle& style, std::size_t most, bool running) {
  std::int64_t busy = 0, waiting = 0, runs = 0, asked = 0;
  for (const EtaJob& job : eta.jobs) {
    (job.started ? runs : waiting) += 1;
    (job.started ? busy : asked) += job.gpus;
  }
  std::string text = style.date(seconds_of(eta.now));
  if (eta.gpus > 0)
    text += fmt::format(": {} jobs run on {} of {} GPUs, {} jobs wait for {}", runs, busy, eta.gpus,
                        waiting, asked);
  text += "\n";
  text += fmt::format("policy {}, {} samples; a span holds 80 % of them\n", printable(eta.policy),
                      eta.samples);
  if (waiting > 0) text += "\n" + jobs_table(eta, style, most, false);
  if (running && runs > 0) text += "\n" + jobs_table(eta, style, most, true);
  for (const std::string& note : eta.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

}  // namespace schedmate
