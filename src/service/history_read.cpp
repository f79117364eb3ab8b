// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "advisor/record_json.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "service/advisor_state.hpp"
#include "service/history.hpp"

namespace schedmate::service {
namespace {

/// The history, for one who may see everybody's jobs.
Result<HistoryAccess> open_for_operator(const settings::Session& session, std::string_view action) {
  auto history = open_history(session);
  if (!history || history->role == Role::cluster_operator) return history;
  return fail(
      ErrorCode::refused,
      fmt::format(
          "history {}: {} belongs to another user; only its owner sees the jobs of all users",
          action, session.state_dir()));
}

}  // namespace

Result<std::vector<JobRecord>> list_jobs(const settings::Session& session, const std::string& user,
                                         std::size_t limit) {
  const auto history = open_for_operator(session, "list");
  if (!history) return tl::unexpected(history.error());
  JobFilter filter;
  if (!user.empty()) filter.user = user;
  filter.limit = limit;
  filter.brief = true;
  return history->store->list(filter);
}

Result<JobRecord> show_job(const settings::Session& session, const std::string& id) {
  const auto history = open_for_operator(session, "show");
  if (!history) return tl::unexpected(history.error());
  auto record = history->store->get(id);
  if (!record) return tl::unexpected(record.error());
  if (*record) return **std::move(record);
  return fail(ErrorCode::not_found,
              fmt::format("no job '{}' in the history (schedmate history list)", printable(id)));
}

Result<void> each_job(const settings::Session& session, const std::string& user,
                      const std::function<void(const JobRecord&)>& visit) {
  const auto history = open_for_operator(session, "export");
  if (!history) return tl::unexpected(history.error());
  JobFilter filter;
  if (!user.empty()) filter.user = user;
  filter.limit = std::numeric_limits<std::size_t>::max();
  return history->store->each(filter, [&](const JobRecord& record) {
    visit(record);
    return true;
  });
}

Result<std::vector<advisor::Calibration>> calibration(const settings::Session& session) {
  const auto history = open_for_operator(session, "calibration");
  if (!history) return tl::unexpected(history.error());
  return advisor::calibrate(*history->store);
}

Document list_document(std::span<const JobRecord> records) {
  Document document = {{"schema", "schedmate.history.v1"}, {"jobs", Document::array()}};
  for (const JobRecord& record : records)
    document["jobs"].push_back(advisor::record_document(record));
  return document;
}

Document calibration_document(std::span<const advisor::Calibration> rows) {
  Document document = {{"schema", "schedmate.calibration.v1"}, {"rows", Document::array()}};
  for (const advisor::Calibration& row : rows) {
    document["rows"].push_back(
        {{"user", row.who.empty() ? Document(nullptr) : Document(row.who)},
         {"jobs", row.jobs},
         {"inside_80_share", as_known(row.inside_share)},
         {"within_100_pct_share", as_known(row.within_100_share)},
         {"p50_over_actual", as_known(row.bias)},
         {"limits", row.limits},
         {"over_limit_share",
          row.limits == 0 ? Document(nullptr) : Document(as_known(row.over_limit_share))}});
  }
  return document;
}

}  // namespace schedmate::service
