// SPDX-License-Identifier: Apache-2.0

/// Actions that read the history: list, show, calibration, export.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "advisor/calibration.hpp"
#include "advisor/fields.hpp"
#include "advisor/record_json.hpp"
#include "apps/history_actions.hpp"
#include "apps/words.hpp"

namespace schedmate {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> row_of(const JobRecord& record) {
  const bool ended = record.outcome.has_value();
  return {printable(record.id),
          printable(record.user),
          fmt::format("{}", seconds_of(record.submit)),
          fmt::format("{}", record.gpus),
          ended ? state_word(record.outcome->state) : "-",
          ended ? in_words(record.outcome->duration) : "-",
          printable(field(record.fields, "model_name")),
          printable(record.command.substr(0, 60))};
}

std::string who(const Calibration& row) { return row.who.empty() ? "all" : row.who; }

std::string calibration_json(const std::vector<Calibration>& rows) {
  nlohmann::ordered_json document = {{"schema", "schedmate.calibration.v1"}};
  auto& list = document["rows"] = nlohmann::ordered_json::array();
  for (const Calibration& row : rows) {
    list.push_back({{"user", row.who.empty() ? nlohmann::ordered_json(nullptr)
                                             : nlohmann::ordered_json(row.who)},
                    {"jobs", row.jobs},
                    {"inside_80_share", row.inside_share},
                    {"within_100_pct_share", row.within_100_share},
                    {"p50_over_actual", row.bias}});
  }
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<void> history_list(const HistoryCall& call) {
  JobFilter filter;
  if (!call.request.user.empty()) filter.user = call.request.user;
  filter.limit = static_cast<std::size_t>(std::max<std::int64_t>(0, call.request.limit));
  filter.brief = true;
  const auto records = call.state.store->list(filter);
  if (!records) return tl::unexpected(records.error());
  if (call.session.json) {
    nlohmann::ordered_json document = {{"schema", "schedmate.history.v1"}};
    auto& list = document["jobs"] = nlohmann::ordered_json::array();
    for (const JobRecord& record : *records)
      list.push_back(nlohmann::ordered_json::parse(record_json(record, false)));
    fmt::print("{}\n", document.dump(2));
    return {};
  }
  Rows rows{{"job", "user", "submit_s", "GPUs", "end", "ran", "model", "command"}};
  for (const JobRecord& record : *records) rows.push_back(row_of(record));
  fmt::print("{}", aligned(rows));
  return {};
}

Result<void> history_show(const HistoryCall& call) {
  const auto record = call.state.store->get(call.request.subject);
  if (!record) return tl::unexpected(record.error());
  if (!*record)
    return fail(ErrorCode::not_found,
                fmt::format("no job '{}' in the history (schedmate history list)",
                            printable(call.request.subject)));
  fmt::print("{}\n", record_json(**record, true));
  return {};
}

Result<void> history_calibration(const HistoryCall& call) {
  const auto rows = calibrate(*call.state.store);
  if (!rows) return tl::unexpected(rows.error());
  if (call.session.json) {
    fmt::print("{}\n", calibration_json(*rows));
    return {};
  }
  Rows table{{"user", "jobs", "inside 80 %", "within 100 %", "p50/actual"}};
  for (const Calibration& row : *rows) {
    table.push_back({printable(who(row)), fmt::format("{}", row.jobs),
                     fmt::format("{:.1f} %", 100 * row.inside_share),
                     fmt::format("{:.1f} %", 100 * row.within_100_share),
                     fmt::format("{:.2f}", row.bias)});
  }
  fmt::print("{}", aligned(table));
  return {};
}

Result<void> history_export(const HistoryCall& call) {
  JobFilter filter;
  if (!call.request.user.empty()) filter.user = call.request.user;
  filter.limit = std::numeric_limits<std::size_t>::max();
  return call.state.store->each(filter, [](const JobRecord& record) {
    fmt::print("{}\n", record_json(record, false));
    return true;
  });
}

}  // namespace schedmate
