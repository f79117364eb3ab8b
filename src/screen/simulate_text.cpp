// SPDX-License-Identifier: Apache-2.0
#include "screen/simulate_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/table.hpp"
#include "base/words.hpp"
#include "report/run_notes.hpp"
#include "screen/explain_text.hpp"

namespace schedmate::screen {
namespace {

constexpr std::size_t most_messages = 3;

std::string warning(const lab::UnfinishedJobs& left) {
  std::string ids = fmt::format("{}", fmt::join(left.first, ", "));
  if (left.count > left.first.size()) ids += ", ...";
  const std::string_view why =
      left.status != JobStatus::infeasible
          ? "still waiting or running at the end, when no event was left"
      : left.lends ? "larger than what the profiler leaves of their VC or in a VC that the cluster "
                     "lacks, left out"
                   : "larger than their VC or in a VC that the cluster lacks, left out";
  return fmt::format("warning: {}: {} {} {}: {}", left.label, left.count,
                     left.count == 1 ? "job:" : "jobs:", why, printable(ids));
}

}  // namespace

std::string reading_text(const Experiment& experiment) {
  const ReadReport& read = experiment.trace.report;
  std::string text = fmt::format("trace    {}: {} of {} rows are jobs\n",
                                 printable(experiment.trace_spec), read.kept, read.rows);
  for (const auto& [reason, rows] : read.dropped)
    text += fmt::format("         {} rows dropped: {}\n", rows, printable(reason));
  for (std::size_t i = 0; i < std::min(most_messages, read.messages.size()); ++i)
    text += fmt::format("         {}\n", printable(read.messages[i]));
  if (read.messages.size() > most_messages) text += "         ...\n";
  if (read.out_of_order > 0) {
    text += fmt::format("         {} rows were out of submission order and were sorted\n",
                        read.out_of_order);
  }
  if (!read.invented_columns.empty()) {
    text += fmt::format("         INVENTED by schedmate generate: this is no real trace ({})\n",
                        printable(fmt::format("{}", fmt::join(read.invented_columns, ", "))));
  }
  std::int64_t gpus = 0;
  for (const PartitionSpec& partition : experiment.cluster.partitions)
    gpus += std::int64_t{partition.nodes} * partition.gpus_per_node;
  text += fmt::format(
      "cluster  {}: {} GPUs in {}\n",
      experiment.cluster_spec.empty() ? "of the trace" : printable(experiment.cluster_spec), gpus,
      counted(std::ssize(experiment.cluster.partitions), "VC"));
  return text;
}

std::string simulation_text(const lab::Simulation& simulation, std::size_t columns) {
  std::string text = "\n" + results_table(simulation.runs, columns);
  const auto notes = report::run_notes(simulation.runs);
  if (!notes.empty()) text += "\n";
  for (const report::RunNote& note : notes)
    text += fmt::format("{}: {}\n", fmt::join(note.labels, ", "), note.text);
  for (const study::Explanation& explanation : simulation.explanations)
    text += "\n" + explanation_text(explanation, simulation.trace, columns);
  if (!simulation.leftovers.empty() || !simulation.idle_settings.empty()) text += "\n";
  for (const std::string& idle : simulation.idle_settings) text += "warning: " + idle + "\n";
  for (const lab::UnfinishedJobs& left : simulation.leftovers) text += warning(left) + "\n";
  text += fmt::format("\nwritten to {}\n", printable(simulation.out));
  if (!simulation.report.empty())
    text += fmt::format("report   {}\n", printable(simulation.report));
  return text;
}

std::string elastic_text(const lab::ElasticSummary& summary, std::size_t columns) {
  const auto lines = lab::figure_table(summary);
  constexpr std::array<int, 1 + lab::ElasticRow::figures> ranks{0, 0, 2, 3, 4, 5, 1};
  std::vector<TableColumn> names;
  for (const std::string& name : lines[0]) names.push_back({name, ranks.at(names.size())});
  std::vector<std::vector<Cell>> rows;
  for (const auto& line : std::span(lines).subspan(1)) rows.emplace_back(line.begin(), line.end());
  return fmt::format(
      "{} jobs on {} GPUs ({}); means over ways to break ties: {}, with 95 % intervals\n{}",
      summary.jobs, summary.gpus, summary.cluster, summary.perturbations(),
      table_text(names, rows, columns));
}

}  // namespace schedmate::screen
