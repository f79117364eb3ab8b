// SPDX-License-Identifier: Apache-2.0
/// Jobs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "daemon/life_document.hpp"
#include "daemon/parts.hpp"
#include "journal/audit.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::daemon {
namespace {

Document nodes_of(const std::vector<NodeGpus>& nodes) {
  Document all = Document::array();
  for (const NodeGpus& node : nodes) all.push_back({{"node", node.node}, {"gpus", node.gpus}});
  return all;
}

/// Why there is no job in that state; nothing for a word that means something.
std::optional<http::Reply> wrong_job_state(const std::string& word) {
  std::vector<std::string> words{"pending", "running", "unknown"};
  for (const EndState state : known_end_states) words.push_back(lower_case(to_string(state)));
  const std::vector<std::string_view> all(words.begin(), words.end());
  if (word.empty() || std::ranges::find(all, word) != all.end()) return std::nullopt;
  return http::error_reply(Error{ErrorCode::invalid, unknown_name("state", word, all)});
}

/// What was asked of the cluster, as far as it shows that.
Document request_of_job(const SeenJob& job) {
  const auto text = [](const std::string& told) {
    return told.empty() ? Document(nullptr) : Document(secrets::redacted(told));
  };
  return {{"name", secrets::redacted(job.name)},
          {"user", job.user},
          {"partition", job.partition},
          {"dir", text(job.dir)},
          {"command", text(job.command)},
          {"output", text(job.output)},
          {"gpus", job.gpus},
          {"limit_s", job.limit > Seconds(0) ? Document(job.limit.count()) : Document(nullptr)}};
}

Document attempt_document(const live::PastRun& run) {
  Document made{{"restarts", run.restarts},
                {"state", nullptr},
                {"nodes", nodes_of(run.nodes)},
                {"why", nullptr}};
  put_instant(made, "started", run.started);
  put_instant(made, "ended", run.ended);
  return made;
}

/// Oldest first; the last is the present one. Each with why it failed, where that is known.
Document attempts_of(const live::Attempt& attempt, const live::Life* life) {
  Document all = Document::array();
  for (const live::PastRun& run : attempt.past) {
    all.push_back(attempt_document(run));
    all.back()["state"] = lower_case(to_string(run.end_state));
    if (life == nullptr) continue;
    for (const live::EarlierFailure& failure : life->earlier)
      if (failure.restarts == run.restarts && !failure.reason.empty())
        all.back()["why"] = failure.reason;
  }
  const SeenJob& seen = attempt.seen;
  all.push_back(
      attempt_document({seen.restarts, seen.started, seen.ended, seen.end_state, seen.nodes}));
  all.back()["state"] = state_word(seen);
  if (life != nullptr && life->cause && !life->cause->reason.empty())
    all.back()["why"] = life->cause->reason;
  return all;
}

Document open_actions(const SeenJob& seen, const Caller& caller, const State& state) {
  Document all = Document::array();
  for (const auto& [id, action] : state.loop.actions().all())
    if (action.call.job == seen.id && action.call.submitted == seen.submitted)
      all.push_back(shown_action(action, caller));
  return all;
}

/// What holds it besides the cluster: "approval" where its start waits for an operator, "mode"
/// where nobody starts jobs; "": neither.
std::string_view held_up_by(const SeenJob& seen, const State& state) {
  if (seen.phase != JobPhase::queued) return "";
  const live::Actions& actions = state.loop.actions();
  const Action* const start = actions.start_of(seen.id);
  if (start != nullptr && start->state() == ActionState::waiting) return "approval";
  return state.starts_jobs && actions.settings().modes.order <= Mode::shadow ? "mode" : "";
}

/// Why it waits, where that is not up to the cluster; else null.
Document blocked_by_people(const SeenJob& seen, const State& state) {
  const std::string_view reason = held_up_by(seen, state);
  if (reason.empty()) return nullptr;
  Document made{{"reason", reason}, {"jobs", Document::array()}, {"jobs_of_others", 0}};
  const live::Actions& actions = state.loop.actions();
  if (reason == "approval") {
    made["action"] = actions.start_of(seen.id)->id;
    made["text"] =
        fmt::format("its start waits for an operator (action {})", actions.start_of(seen.id)->id);
  } else {
    made["text"] =
        fmt::format("nobody starts jobs: mode.order is {}, and the cluster starts none itself",
                    name_of(actions.settings().modes.order));
  }
  return made;
}

}  // namespace

std::string state_word(const SeenJob& job) {
  if (job.phase == JobPhase::queued) return "pending";
  if (job.phase == JobPhase::running) return "running";
  return lower_case(to_string(job.end_state));
}

Document job_document(const SeenJob& job) {
  Document made{{"id", job.id},
                {"name", secrets::redacted(job.name)},
                {"user", job.user},
                {"partition", job.partition},
                {"state", state_word(job)},
                {"gpus", job.gpus},
                {"nodes", nodes_of(job.nodes)},
                {"held", job.held},
                {"restarts", job.restarts}};
  put_instant(made, "submitted", job.submitted);
  put_instant(made, "started", job.started);
  put_instant(made, "ended", job.ended);
  return made;
}

Document whole_document(const live::Attempt& attempt, const live::Life* life) {
  Document made = job_document(attempt.seen);
  made["schema"] = "schedmate.job.v1";
  const SeenJob& seen = attempt.seen;
  const bool tells_exit = seen.exit_code != 0 || seen.exit_signal != 0;
  made["exit_code"] = tells_exit ? Document(seen.exit_code) : Document(nullptr);
  made["exit_signal"] = tells_exit ? Document(seen.exit_signal) : Document(nullptr);
  made["eta"] = nullptr;
  made["held_up_by"] = nullptr;
  made["use"] = nullptr;
  add_whole_life(life, made);
  made["request"] = request_of_job(seen);
  made["attempts"] = attempts_of(attempt, life);
  made["actions"] = Document::array();
  return made;
}

const std::string& JobTexts::of(const SeenJob& job, const live::Lives& lives) {
  const auto [found, fresh] = texts_.try_emplace(job.id);
  if (fresh) {
    Document made = job_document(job);
    add_life(lives.find(job.id), made);
    found->second = in_one_line(made);
    found->second.pop_back();
    found->second.shrink_to_fit();  // there are many
  }
  return found->second;
}

http::Reply jobs_reply(const http::Request& request, const State& state) {
  // Of a cursor; the id of the last job of the page before follows, which may have gone meanwhile.
  constexpr std::string_view after = "after:";
  const std::string user = query(request, "user"), word = query(request, "state");
  const std::string cursor = query(request, "cursor");
  if (!cursor.empty() && !cursor.starts_with(after)) return wrong_cursor();
  const auto since = parse_number<std::int64_t>(query(request, "since"));
  if (auto wrong = wrong_job_state(word)) return std::move(*wrong);
  const std::size_t limit = limit_of(request);
  constexpr std::size_t usual_size = 640;  // of a job's text
  std::string list = R"({"schema":"schedmate.jobs.v1","jobs":[)";
  list.reserve(usual_size * (1 + std::min(limit, state.loop.jobs().all().size())));
  std::string last;
  Document next = nullptr;
  std::size_t count = 0;
  const auto& all = state.loop.jobs().all();
  auto job = cursor.empty() ? all.begin() : all.upper_bound(cursor.substr(after.size()));
  for (; job != all.end(); ++job) {
    const SeenJob& seen = job->second.seen;
    if (!request.caller.may_see_jobs_of(seen.user) || (!user.empty() && seen.user != user) ||
        (!word.empty() && state_word(seen) != word) ||
        (since && seconds_of(seen.submitted) < *since))
      continue;
    if (count == limit) {
      next = std::string(after) + last;
      break;
    }
    if (count++ > 0) list += ',';
    list += state.texts.of(seen, state.loop.lives());
    list += ",\"eta\":";
    list += eta_text(state.forecast, seen, state.now);
    const std::string_view held_up = held_up_by(seen, state);
    list += held_up.empty() ? R"(,"held_up_by":null})"
                            : fmt::format(R"(,"held_up_by":"{}"}})", held_up);
    last = seen.id;
  }
  list += R"(],"next":)";
  list += next.dump();
  list += '}';
  return http::text_reply(std::move(list), "application/json");
}

const live::Attempt* seen_job(const http::Request& request, const State& state) {
  const live::Attempt* const attempt = state.loop.jobs().find(request.ids.at(0));
  return attempt != nullptr && request.caller.may_see_jobs_of(attempt->seen.user) ? attempt
                                                                                  : nullptr;
}

std::optional<Document> whole_job(const http::Request& request, const State& state) {
  const live::Attempt* const attempt = seen_job(request, state);
  if (attempt == nullptr) return std::nullopt;
  const SeenJob& seen = attempt->seen;
  Document made = whole_document(*attempt, state.loop.lives().find(seen.id));
  made["eta"] = eta_of(state.forecast, seen, state.now);
  if (const auto held_up = held_up_by(seen, state); !held_up.empty()) made["held_up_by"] = held_up;
  if (const live::Ordering* const ordering = state.loop.ordering())
    if (const auto place = ordering->place(attempt->number))
      made["order"] = {{"now", place->now},
                       {"would_be", place->would_be},
                       {"of", place->of},
                       {"start_s", start_if_ordered(state.forecast, seen.id, state.now)}};
  if (state.desk != nullptr)
    if (const auto* const use = state.desk->probes().use_of(seen))
      made["use"] = probe::use_document(*use);
  made["actions"] = open_actions(seen, request.caller, state);
  return made;
}

std::vector<std::int64_t> ended_actions(const std::string& job, const State& state) {
  std::vector<std::int64_t> ended = state.job_actions.of(job);
  std::erase_if(ended, [&](std::int64_t id) { return state.loop.actions().find(id) != nullptr; });
  return ended;
}

void add_ended_actions(const std::vector<std::int64_t>& ids, const Caller& caller,
                       const std::string& journal, Document& job) {
  if (ids.empty()) return;
  const auto kept = journal::read_actions({journal}, ids);
  if (!kept) return;
  std::map<std::int64_t, Document> all;
  for (Document& open : job["actions"]) {
    const auto number = open["id"].get<std::int64_t>();
    all[number] = std::move(open);
  }
  const auto job_id = job["id"].get<std::string>();
  const auto submitted_s = job["submitted_s"].get<std::int64_t>();
  for (const Action& each : *kept)
    if (each.call.job == job_id && seconds_of(each.call.submitted) == submitted_s)
      all.try_emplace(each.id, shown_action(each, caller));
  job["actions"] = Document::array();
  for (auto& [id, action] : all) job["actions"].push_back(std::move(action));
}

/// Jobs of others that it waits for are counted, not named.
http::Reply why_reply(const http::Request& request, const State& state) {
  const live::Attempt* const attempt = seen_job(request, state);
  if (attempt == nullptr) return not_found(fmt::format("no job {}", request.ids.at(0)));
  const SeenJob& seen = attempt->seen;
  Document made{{"schema", "schedmate.why.v1"},
                {"job_id", seen.id},
                {"state", state_word(seen)},
                {"blocked_by", nullptr},
                {"eta", eta_of(state.forecast, seen, state.now)}};
  if (seen.phase != JobPhase::queued) return http::json_reply(made);
  if (Document blocked = blocked_by_people(seen, state); !blocked.is_null()) {
    made["blocked_by"] = std::move(blocked);
    return http::json_reply(made);
  }
  if (seen.blocked) {
    made["blocked_by"] = {{"reason", seen.blocked->kind},
                          {"text", secrets::safe_line(seen.blocked->text)},
                          {"scheduler_says", secrets::safe_line(seen.blocked->word)},
                          {"jobs", Document::array()},
                          {"jobs_of_others", 0}};
    return http::json_reply(made);
  }
  const auto* const all = state.forecast;
  const auto found = all == nullptr ? decltype(all->jobs.end()){} : all->jobs.find(seen.id);
  if (all == nullptr || found == all->jobs.end()) return http::json_reply(made);
  Document named = Document::array();
  int others = 0;
  for (const std::string& id : found->second.awaited) {
    const live::Attempt* const awaited = state.loop.jobs().find(id);
    if (awaited != nullptr && request.caller.may_see_jobs_of(awaited->seen.user))
      named.push_back(id);
    else
      ++others;
  }
  made["blocked_by"] = {{"reason", name_of(found->second.block)},
                        {"text", found->second.text},
                        {"jobs", std::move(named)},
                        {"jobs_of_others", others}};
  return http::json_reply(made);
}

}  // namespace schedmate::daemon
