// SPDX-License-Identifier: Apache-2.0
#include "screen/eta_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/table.hpp"
#include "base/words.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {
namespace {

using queue::Eta;
using queue::EtaJob;

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
  std::vector<TableColumn> columns = {{"JobID", 0},
                                      {"User", 3},
                                      {"Partition", 4},
                                      {"GPUs", 0, true},
                                      {running ? "Ran" : "Waited", 2, true},
                                      {running ? "Ends in" : "Starts in", 0},
                                      {"Why", 1},
                                      {"Ends it waits for", 5, false, 20}};
  constexpr std::ptrdiff_t behind_span = 6;
  std::vector<std::vector<Cell>> rows;
  const auto jobs = in_order(eta, running);
  const bool compares = !jobs.empty() && jobs.front()->ended_then.has_value();
  if (compares) columns.insert(columns.begin() + behind_span, {"In fact", 0, true});
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
    const auto& then = running ? job->ended_then : job->started_then;
    if (compares) rows.back().insert(rows.back().begin() + behind_span, {until(*then, eta.now)});
  }
  std::string text = table_text(columns, rows, style.width);
  if (rows.size() < jobs.size())
    text += fmt::format("... and {} more (--limit 0 shows all)\n", jobs.size() - rows.size());
  return text;
}

std::string of_cluster(const std::string& name) {
  return name.empty() ? "" : ", cluster " + printable(name);
}

}  // namespace

std::string span_text(const InstantQuantiles& told, SimTime now) {
  if (told.p10 == never) return "never";
  if (told.p50 == never) return until(told.p10, now) + " or later";
  return fmt::format("{} ({} to {})", until(told.p50, now), until(told.p10, now),
                     until(told.p90, now));
}

std::string policy_of_queue(const std::string& policy, bool of_site) {
  if (!of_site) return printable(policy);
  return printable(policy.substr(0, policy.find(':'))) + " as the site sets it";
}

std::string eta_text(const Eta& eta, const ScreenStyle& style, std::size_t most, bool running) {
  std::int64_t busy = 0, waiting = 0, runs = 0, asked = 0;
  for (const EtaJob& job : eta.jobs) {
    (job.started ? runs : waiting) += job.tasks;
    (job.started ? busy : asked) += job.gpus * job.tasks;
  }
  std::string text = style.date(seconds_of(eta.now)) + of_cluster(eta.cluster);
  if (eta.gpus > 0)
    text += fmt::format(": {} on {} of {} GPUs, {} for {}",
                        runs == 1 ? "1 job runs" : fmt::format("{} jobs run", runs), busy, eta.gpus,
                        waiting == 1 ? "1 job waits" : fmt::format("{} jobs wait", waiting), asked);
  text += "\n";
  text += fmt::format(
      "policy {}, {} samples; a span holds 80 %{}\n",
      policy_of_queue(eta.policy, !eta.site_settings.empty()), eta.samples,
      eta.calibrated_on > 0
          ? fmt::format(", judged by {}", counted(eta.calibrated_on, "earlier forecast"))
          : " of them (not calibrated: schedmate eta calibration)");
  if (!eta.site_settings.empty())
    text += fmt::format("settings of the site: {}\n",
                        printable(fmt::format("{}", fmt::join(eta.site_settings, ", "))));
  if (waiting > 0) text += "\n" + jobs_table(eta, style, most, false);
  if (running && runs > 0) text += "\n" + jobs_table(eta, style, most, true);
  for (const std::string& note : eta.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

std::string eta_calibration_text(const queue::EtaCalibrationFigures& figures,
                                 const ScreenStyle& style) {
  std::string text = fmt::format(
      "{} to {}{}: forecasts at {}, policy {}\n"
      "of what was told to have happened by now with these chances, this share had\n\n",
      style.date(seconds_of(figures.since)), style.date(seconds_of(figures.until)),
      of_cluster(figures.cluster), counted(figures.instants, "instant"), printable(figures.policy));
  std::vector<TableColumn> columns = {{"What", 0}, {"Forecasts", 1, true}, {"", 0}};
  for (const double share : quantile_shares)
    columns.push_back({fmt::format("{:.0f} %", 100 * share), 0, true});
  constexpr std::array<std::string_view, forecast_kinds> names{"starts", "ends of running jobs",
                                                               "ends of waiting jobs"};
  std::vector<std::vector<Cell>> rows;
  for (const auto& kind : figures.kinds)
    for (const bool calibrated : {false, true}) {
      auto& row = rows.emplace_back();
      row.emplace_back(calibrated ? "" : std::string(names[static_cast<std::size_t>(kind.kind)]));
      row.emplace_back(calibrated ? "" : fmt::format("{}", kind.forecasts));
      row.emplace_back(calibrated ? "calibrated" : "samples");
      for (const double share : calibrated ? kind.calibrated : kind.told)
        row.emplace_back(kind.judged == 0 ? unknown_cell : fmt::format("{:.0f} %", 100 * share));
    }
  text += table_text(columns, rows, style.width);
  text += "calibrated: the later half, with the earlier half as calibration; both are kept\n";
  for (const std::string& note : figures.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

}  // namespace schedmate::screen
