// SPDX-License-Identifier: Apache-2.0
#include "daemon/archive.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "daemon/answers.hpp"
#include "daemon/parts.hpp"
#include "daemon/past_job.hpp"
#include "http/routes.hpp"
#include "journal/audit.hpp"

namespace schedmate::daemon {
namespace {

/// `neighbours` of the job's advice; of those whose jobs the caller may not see their number.
Result<void> add_neighbours(Store& store, const Caller& caller, const JobRecord& record,
                            Document& advice) {
  Document neighbours = Document::array();
  int others = 0;
  for (const Neighbour& each : record.advice->neighbours) {
    const auto run = store.get(each.id);
    if (!run) return tl::unexpected(run.error());
    if (!*run) continue;
    if (caller.may_see_jobs_of((*run)->user))
      neighbours.push_back(neighbour_document(each, **run));
    else
      ++others;
  }
  advice["neighbours"] = std::move(neighbours);
  advice["neighbours_of_others"] = others;
  return {};
}

Result<void> add_record(Store& store, const Caller& caller, const JobRecord& record,
                        Document& job) {
  if (Document facts = Document::parse(record.facts_json, nullptr, false); facts.is_object())
    job["facts"] = std::move(facts);
  if (!record.advice) return {};
  job["advice"] = advice_document(*record.advice);
  return add_neighbours(store, caller, record, job["advice"]);
}

/// Whatever is wrong with it, the caller's request is right.
http::Reply history_error(const Error& error) {
  return http::error_reply(
      Error{ErrorCode::unavailable, "the history cannot be read: " + error.message});
}

}  // namespace

Result<void> add_history(Store& store, const Caller& caller, Document& job) {
  const auto record = store.get(job["id"].get<std::string>());
  if (!record) return tl::unexpected(record.error());
  // Ids come again.
  if (!*record || Document(seconds_of((*record)->submit)) != job["submitted_s"]) return {};
  return add_record(store, caller, **record, job);
}

Result<std::optional<Document>> past_job(Store& store, const Caller& caller,
                                         const std::string& id) {
  const auto record = store.get(id);
  if (!record) return tl::unexpected(record.error());
  if (!*record || !caller.may_see_jobs_of((*record)->user)) return std::nullopt;
  Document job = past_job_document(**record);
  job["facts"] = nullptr;
  if (auto added = add_record(store, caller, **record, job); !added)
    return tl::unexpected(added.error());
  return job;
}

bool Archive::take(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                   const State& state) {
  const http::RouteName route = request.route->name;
  if (route == http::RouteName::audit) {
    audit(request, answer);
  } else if (route == http::RouteName::actions) {
    actions(request, answer, seen_by(request.caller, state));
  } else if (route == http::RouteName::action) {
    const auto id = parse_number<std::int64_t>(request.ids.at(0));
    const Action* const open = id ? state.loop.actions().find(*id) : nullptr;
    if (open == nullptr)
      past_action(request, answer, seen_by(request.caller, state));
    else
      (*answer)(one_action_reply(request, seen_by(request.caller, state), journal_, open));
  } else if (route == http::RouteName::job) {
    auto made = whole_job(request, state);
    if (made)
      job(request, answer, std::move(*made), ended_actions(request.ids.at(0), state));
    else
      past_job(request, answer);
  } else {
    return false;
  }
  return true;
}

/// An operator sees all actions, whosever the jobs are.
SeenActions Archive::seen_by(const Caller& caller, const State& state) {
  return {caller, caller.role == Role::cluster_operator ? nullptr : owners(state)};
}

/// Made once for each reading of the cluster.
std::shared_ptr<const JobOwners> Archive::owners(const State& state) {
  const std::pair reading{state.loop_number, state.loop.counts().readings};
  if (owners_ == nullptr || reading != owners_of_) {
    auto made = std::make_shared<JobOwners>();
    for (const auto& [id, attempt] : state.loop.jobs().all())
      made->emplace(id, JobOwner{attempt.seen.user, attempt.seen.submitted});
    owners_ = std::move(made);
    owners_of_ = reading;
  }
  return owners_;
}

void Archive::actions(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                      SeenActions seen) {
  pages_.ask([this, request, answer, seen = std::move(seen)] {
    (*answer)(actions_reply(request, seen, journal_));
  });
}

void Archive::past_action(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                          SeenActions seen) {
  pages_.ask([this, request, answer, seen = std::move(seen)] {
    (*answer)(one_action_reply(request, seen, journal_));
  });
}

void Archive::audit(const http::Request& request, const std::shared_ptr<http::Answer>& answer) {
  pages_.ask([this, request, answer] { (*answer)(audit_reply(request, journal_)); });
}

void Archive::job(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                  Document document, std::vector<std::int64_t> actions) {
  worker_.ask([this, caller = request.caller, answer, document = std::move(document),
               actions = std::move(actions)]() mutable {
    add_ended_actions(actions, caller, journal_, document);
    document["facts"] = nullptr;
    if (const auto store = history_.store(); store && *store != nullptr)
      if (!add_history(**store, caller, document)) history_.close();
    (*answer)(http::json_reply(document));
  });
}

void Archive::past_job(const http::Request& request, const std::shared_ptr<http::Answer>& answer) {
  worker_.ask([this, caller = request.caller, id = request.ids.at(0), answer] {
    auto job = history_.store().and_then([&](Store* store) {
      if (store == nullptr) return Result<std::optional<Document>>(std::nullopt);
      return daemon::past_job(*store, caller, id);
    });
    if (!job) history_.close();
    if (job && *job)
      if (const auto actions = journal::actions_about({journal_}, id, most_actions_of_job); actions)
        add_ended_actions(*actions, caller, journal_, **job);
    (*answer)(!job   ? history_error(job.error())
              : *job ? http::json_reply(**job)
                     : not_found(fmt::format("no job {}", id)));
  });
}

}  // namespace schedmate::daemon
