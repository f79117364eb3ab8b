// SPDX-License-Identifier: Apache-2.0
#include "apps/eta_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

using service::Eta;

std::string until(SimTime when, SimTime now) {
  return when == never ? "later" : in_words(when - now);
}

/// "2 h 13 min (40 min to 5 h)", from the snapshot's instant.
std::string span(const InstantQuantiles& told, SimTime now) {
  if (told.p50 == never) return "never";
  return fmt::format("{} ({} to {})", until(told.p50, now), until(told.p10, now),
                     until(told.p90, now));
}

std::string jobs_awaited(const Eta& eta, std::size_t job) {
  std::string text;
  for (const JobForecast::Awaited& each : eta.forecast.jobs[job].awaited)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ",
                        printable(eta.snapshot.jobs[each.job].id), 100 * each.share);
  return text.empty() ? unknown_cell : text;
}

std::vector<std::size_t> in_order(const Eta& eta, bool running) {
  std::vector<std::size_t> jobs;
  for (std::size_t i = 0; i < eta.snapshot.jobs.size(); ++i)
    if (eta.snapshot.jobs[i].started.has_value() == running) jobs.push_back(i);
  std::ranges::stable_sort(jobs, {}, [&](std::size_t i) {
    const JobForecast& told = eta.forecast.jobs[i];
    return running ? told.end.p50 : told.start->p50;
  });
  return jobs;
}

std::string jobs_table(const Eta& eta, const ScreenStyle& style, std::size_t most, bool running) {
  const std::vector<TableColumn> columns = {
      {"JobID", 0},        {"User", 3},     {"Partition", 4},  {"GPUs", 0, true},
      {running ? "Ran" : "Waited", 2, true}, {running ? "Ends in" : "Starts in", 0},
      {"Why", 1},          {"Ends it waits for", 5, false, 20}};
  std::vector<std::vector<Cell>> rows;
  const SimTime now = eta.snapshot.now;
  const auto jobs = in_order(eta, running);
  for (const std::size_t i : jobs) {
    if (most > 0 && rows.size() == most) break;
    const SnapshotJob& job = eta.snapshot.jobs[i];
    const JobForecast& told = eta.forecast.jobs[i];
    rows.push_back({{shortened(printable(job.id), 20)},
                    {shortened(printable(eta.users[i]), 12)},
                    {shortened(printable(eta.snapshot.pools[job.pool].name), 12)},
                    {fmt::format("{}", job.gpus)},
                    {in_words(now - job.started.value_or(job.submit))},
                    {span(running ? told.end : *told.start, now)},
                    {running ? "runs" : std::string(name_of(told.block))},
                    {running ? unknown_cell : jobs_awaited(eta, i)}});
  }
  std::string text = table_text(columns, rows, style.width);
  if (rows.size() < jobs.size())
    text += fmt::format("... and {} more (--limit 0 shows all)\n", jobs.size() - rows.size());
  return text;
}

}  // namespace

std::string eta_text(const Eta& eta, const ScreenStyle& style, std::size_t most, bool running) {
  std::int64_t total = 0, busy = 0, waiting = 0, runs = 0, asked = 0;
  for (const PartitionSpec& pool : eta.snapshot.pools)
    total += std::int64_t{pool.nodes} * pool.gpus_per_node;
  for (const SnapshotJob& job : eta.snapshot.jobs) {
    (job.started ? runs : waiting) += 1;
    (job.started ? busy : asked) += job.gpus;
  }
  std::string text = fmt::format(
      "{}: {} jobs run on {} of {} GPUs, {} jobs wait for {}\n", style.date(seconds_of(eta.snapshot.now)),
      runs, busy, total, waiting, asked);
  text += fmt::format("policy {}, {} samples; a span holds 80 % of them\n",
                      printable(eta.policy), eta.forecast.samples);
  if (waiting > 0) text += "\n" + jobs_table(eta, style, most, false);
  if (running && runs > 0) text += "\n" + jobs_table(eta, style, most, true);
  return text;
}

}  // namespace schedmate
