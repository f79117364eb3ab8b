// SPDX-License-Identifier: Apache-2.0
#include "apps/simulate_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "base/words.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_ids = 5;
constexpr std::size_t most_messages = 3;

std::string warning(const Leftovers& left) {
  std::string ids = fmt::format("{}", fmt::join(left.first, ", "));
  if (left.count > left.first.size()) ids += ", ...";
  const std::string_view why =
      left.status == JobStatus::infeasible
          ? "larger than their VC, or in a VC that the cluster lacks, and were left out"
          : "still waiting or running when nothing could happen any more";
  return fmt::format("warning: {}: {} {} {}: {}", left.label, left.count,
                     left.count == 1 ? "job:" : "jobs:", why, printable(ids));
}

}  // namespace

std::vector<Leftovers> find_leftovers(const RunRecord& record) {
  std::vector<Leftovers> found;
  for (const JobStatus status : {JobStatus::infeasible, JobStatus::stalled}) {
    Leftovers left{record.run.label, status, 0, {}};
    for (std::size_t row = 0; row < record.result.outcomes.size(); ++row) {
      if (record.result.outcomes[row].status != status) continue;
      if (left.count++ < most_ids) left.first.emplace_back(record.trace.jobs[row].id);
    }
    if (left.count > 0) found.push_back(std::move(left));
  }
  return found;
}

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
    text += fmt::format("         {} rows were submitted before their predecessors; sorted\n",
                        read.out_of_order);
  }
  std::int64_t gpus = 0;
  for (const PartitionSpec& partition : experiment.cluster.partitions)
    gpus += std::int64_t{partition.nodes} * partition.gpus_per_node;
  text += fmt::format(
      "cluster  {}: {} GPUs in {} VCs\n",
      experiment.cluster_spec.empty() ? "of the trace" : printable(experiment.cluster_spec), gpus,
      experiment.cluster.partitions.size());
  return text;
}

std::string answer_text(const SimulateAnswer& answer, bool colour) {
  std::string table = results_table(answer.runs);
  if (colour) table.insert(0, "\033[1m").insert(table.find('\n'), "\033[0m");
  std::string text = "\n" + table;
  for (const Explanation& explanation : answer.explanations)
    text += "\n" + explanation_text(explanation, answer.experiment.trace);
  if (!answer.leftovers.empty() || !answer.idle_settings.empty()) text += "\n";
  for (const std::string& idle : answer.idle_settings) text += "warning: " + idle + "\n";
  for (const Leftovers& left : answer.leftovers) text += warning(left) + "\n";
  text += fmt::format("\nwritten to {}\n", printable(answer.out));
  if (!answer.report.empty()) text += fmt::format("report   {}\n", printable(answer.report));
  return text;
}

std::string answer_json(const SimulateAnswer& answer, const std::string& summary) {
  Json document = Json::parse(summary);
  document["out"] = answer.out;
  document["report"] = answer.report.empty() ? Json() : Json(answer.report);
  Json cpu = Json::object();
  for (const RunSummary& run : answer.runs) cpu[run.run.label] = run.run.cpu_ms;
  document["cpu_ms"] = std::move(cpu);
  document["messages"] = answer.experiment.trace.report.messages;
  document["idle_settings"] = answer.idle_settings;
  document["warnings"] = Json::array();
  for (const Leftovers& left : answer.leftovers) {
    document["warnings"].push_back(
        {{"label", left.label},
         {"kind", left.status == JobStatus::infeasible ? "infeasible" : "stalled"},
         {"jobs", left.count},
         {"first", left.first}});
  }
  for (const Explanation& explanation : answer.explanations) {
    document["explain"][explanation.label] =
        Json::parse(explanation_json(explanation, answer.experiment.trace));
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace schedmate
