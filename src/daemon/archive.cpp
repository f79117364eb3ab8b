// SPDX-License-Identifier: Apache-2.0
#include "daemon/archive.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "daemon/answers.hpp"

namespace schedmate::daemon {
namespace {

Document neighbour_document(const Neighbour& neighbour, const JobRecord& run) {
  Document made{
      {"job_id", run.id}, {"score", neighbour.score}, {"duration_s", nullptr}, {"state", nullptr}};
  if (!run.outcome) return made;
  made["duration_s"] = run.outcome->duration.count();
  made["state"] = lower_case(to_string(run.outcome->state));
  return made;
}

}  // namespace

Result<void> add_history(Store& store, const Caller& caller, Document& job) {
  const auto record = store.get(job["id"].get<std::string>());
  if (!record) return tl::unexpected(record.error());
  // Ids come again.
  if (!*record || Document(seconds_of((*record)->submit)) != job["submitted_s"]) return {};
  if (Document facts = Document::parse((*record)->facts_json, nullptr, false); facts.is_object())
    job["facts"] = std::move(facts);
  if (!job["advice"].is_object() || !(*record)->advice) return {};
  Document neighbours = Document::array();
  int others = 0;
  for (const Neighbour& each : (*record)->advice->neighbours) {
    const auto run = store.get(each.id);
    if (!run) return tl::unexpected(run.error());
    if (!*run) continue;
    if (caller.may_see_jobs_of((*run)->user))
      neighbours.push_back(neighbour_document(each, **run));
    else
      ++others;
  }
  job["advice"]["neighbours"] = std::move(neighbours);
  job["advice"]["neighbours_of_others"] = others;
  return {};
}

Store* Archive::history() {
  if (!history_)
    if (auto found = service::find_history(session_); found && *found)
      history_ = std::move(**found);
  return history_ ? history_->store.get() : nullptr;
}

void Archive::audit(const http::Request& request, const std::shared_ptr<http::Answer>& answer) {
  worker_.ask([this, request, answer] { (*answer)(audit_reply(request, journal_)); });
}

void Archive::job(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                  Document document) {
  worker_.ask([this, caller = request.caller, answer, document = std::move(document)]() mutable {
    document["facts"] = nullptr;
    if (Store* const store = history())
      if (!add_history(*store, caller, document)) history_.reset();  // opened again for the next
    (*answer)(http::json_reply(document));
  });
}

}  // namespace schedmate::daemon
