// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/known_digits.hpp"
#include "base/text_safety.hpp"
#include "base/words.hpp"
#include "service/report.hpp"

namespace schedmate::service {
namespace {

Document document_of(const ReportGroup& group) {
  return {{"key", group.key},
          {"jobs", group.jobs},
          {"completed", group.completed},
          {"failed", group.failed},
          {"timeout", group.timeout},
          {"cancelled", group.cancelled},
          {"gpu_hours", group.gpu_hours},
          {"idle_gpu_hours", group.idle_gpu_hours},
          {"lost_gpu_hours", group.lost_gpu_hours},
          {"gpu_util_pct", or_null<Document>(group.gpu_util_pct)},
          {"cpu_pct", or_null<Document>(group.cpu_pct)},
          {"energy_j", group.energy_jobs > 0 ? Document(group.energy_j) : Document(nullptr)},
          {"energy_jobs", group.energy_jobs}};
}

/// The fields of a job, for JSON and CSV alike.
Document document_of(const ReportJob& job) {
  const JobRecord& record = job.record;
  const Outcome& outcome = *record.outcome;
  const auto text = [](const std::string& value) {
    return value.empty() ? Document(nullptr) : Document(value);
  };
  const Attempt last = outcome.attempts.empty() ? Attempt() : outcome.attempts.back();
  return {
      {"job_id", record.id},
      {"user", text(record.user)},
      {"account", text(record.account)},
      {"name", text(record.name)},
      {"partition", text(record.vc)},
      {"qos", text(record.qos)},
      {"cluster", text(record.cluster)},
      {"state", job.state},
      {"exit_code", text(last.exit_code)},
      {"cause", text(job.cause)},
      {"submit_s", seconds_of(record.submit)},
      {"wait_s", job.waited ? Document(job.waited->count()) : Document(nullptr)},
      {"start_s", outcome.start ? Document(seconds_of(*outcome.start)) : Document(nullptr)},
      {"end_s", seconds_of(job.end)},
      {"ran_s", outcome.duration.count()},
      {"time_limit_s", record.time_limit ? Document(record.time_limit->count()) : nullptr},
      {"attempts", std::max<std::size_t>(1, outcome.attempts.size())},
      {"nodes", text(last.nodes)},
      {"gpus", record.gpus},
      {"gpu_type", text(record.gpu_type)},
      {"cpus", record.cpus > 0 ? Document(record.cpus) : Document(nullptr)},
      {"memory_mib", or_null<Document>(record.memory_mib)},
      {"used_memory_mib", or_null<Document>(outcome.memory_mib)},
      {"cpu_time_s", outcome.cpu_time ? Document(outcome.cpu_time->count()) : Document(nullptr)},
      {"gpu_memory_mib", or_null<Document>(outcome.gpu_memory_mib)},
      {"time_eff_pct", or_null<Document>(job.use.limit_pct)},
      {"cpu_eff_pct", or_null<Document>(job.use.cpu_pct)},
      {"mem_eff_pct", or_null<Document>(job.use.memory_pct)},
      {"gpu_eff_pct", or_null<Document>(job.use.gpu_util_pct)},
      {"gpu_hours", job.use.gpu_hours},
      {"idle_gpu_hours", or_null<Document>(job.use.idle_gpu_hours)},
      {"lost_gpu_hours", job.use.lost_gpu_hours},
      {"group", text(record.group)},
      {"node_count", record.nodes > 0 ? Document(record.nodes) : Document(nullptr)},
      {"cpus_per_node", or_null<Document>(cpus_per_node(record))},
      {"gpu_memory_total_mib", or_null<Document>(outcome.gpu_memory_total_mib)},
      {"gpu_mem_eff_pct", or_null<Document>(job.use.gpu_memory_pct)},
      {"energy_j", or_null<Document>(outcome.energy_j)},
  };
}

/// A spreadsheet calculates what begins like a formula.
std::string safe_cell(const Document& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = printable(value.get<std::string>());
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) text.insert(0, "'");
  return csv_cell(text);
}

void add_csv_row(Document row, std::string& csv) {
  shorten_numbers(row);
  if (csv.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : row.items()) names.push_back(name);
    csv = fmt::format("{}\n", fmt::join(names, ","));
  }
  std::vector<std::string> cells;
  for (const auto& [name, value] : row.items()) cells.push_back(safe_cell(value));
  csv += fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace

Document usage_document(const UsageReport& report) {
  Document document = {{"schema", "schedmate.report.v1"},     {"source", report.source},
                       {"since_s", seconds_of(report.since)}, {"until_s", seconds_of(report.until)},
                       {"total", document_of(report.total)},  {"groups", Document::array()},
                       {"jobs", Document::array()},           {"causes", Document::array()},
                       {"nodes", Document::array()}};
  for (const ReportGroup& each : report.groups) document["groups"].push_back(document_of(each));
  for (const ReportJob& each : report.jobs) document["jobs"].push_back(document_of(each));
  for (const ReportCause& each : report.causes) {
    document["causes"].push_back(
        {{"cause", each.cause}, {"jobs", each.jobs}, {"lost_gpu_hours", each.lost_gpu_hours}});
  }
  for (const ReportNode& each : report.nodes) {
    document["nodes"].push_back({{"node", each.node},
                                 {"jobs", each.jobs},
                                 {"failed", each.failed},
                                 {"suspect", each.suspect}});
  }
  document["notes"] = report.notes;
  shorten_numbers(document);
  return document;
}

std::string usage_csv(const UsageReport& report) {
  std::string csv;
  for (const ReportGroup& each : report.groups) add_csv_row(document_of(each), csv);
  for (const ReportJob& each : report.jobs) add_csv_row(document_of(each), csv);
  if (!csv.empty()) return csv;
  ReportJob none;  // no job: the header alone
  none.record.outcome.emplace();
  add_csv_row(document_of(none), csv);
  return csv.substr(0, csv.find('\n') + 1);
}

}  // namespace schedmate::service
