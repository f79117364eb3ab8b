// SPDX-License-Identifier: Apache-2.0
#include "daemon/answers.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.hpp"
#include "base/text.hpp"
#include "core/action_json.hpp"
#include "http/routes.hpp"
#include "journal/audit_json.hpp"
#include "service/redaction.hpp"

namespace schedmate::daemon {
namespace {

using http::RouteName;

/// RFC 3339 beside the seconds: {NAME: "...Z", NAME_s: N}.
void put_instant(Document& document, const std::string& name, std::optional<SimTime> when) {
  document[name] = nullptr;
  document[name + "_s"] = nullptr;
  if (!when) return;
  document[name + "_s"] = seconds_of(*when);
  const std::time_t unix_s = seconds_of(*when);
  std::tm utc{};
  if (::gmtime_r(&unix_s, &utc) != nullptr)
    document[name] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

std::string_view state_word(const SeenJob& job) {
  if (job.phase == JobPhase::queued) return "pending";
  if (job.phase == JobPhase::running) return "running";
  return to_string(job.end_state);
}

Document nodes_of(const std::vector<NodeGpus>& nodes) {
  Document all = Document::array();
  for (const NodeGpus& node : nodes) all.push_back({{"node", node.node}, {"gpus", node.gpus}});
  return all;
}

Document job_of(const SeenJob& job) {
  Document made{{"id", job.id},
                {"name", service::redacted(job.name)},
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

http::Reply not_found(std::string what) {
  return http::error_reply(Error{ErrorCode::not_found, std::move(what)});
}

std::string query(const http::Request& request, std::string_view name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

std::size_t limit_of(const http::Request& request) {
  constexpr std::size_t usual = 1000, most = 100'000;
  return std::clamp<std::size_t>(parse_number<std::size_t>(query(request, "limit")).value_or(usual),
                                 1, most);
}

/// The cursor is the id of the last job of the page before.
http::Reply jobs(const http::Request& request, const State& state) {
  const std::string user = query(request, "user"), word = query(request, "state");
  const auto since = parse_number<std::int64_t>(query(request, "since"));
  const std::size_t limit = limit_of(request);
  std::string list;
  std::string last;
  Document next = nullptr;
  std::size_t count = 0;
  const auto& all = state.loop.jobs().all();
  const std::string cursor = query(request, "cursor");
  for (auto job = cursor.empty() ? all.begin() : all.upper_bound(cursor); job != all.end(); ++job) {
    const SeenJob& seen = job->second.seen;
    if (!request.caller.may_see_jobs_of(seen.user) || (!user.empty() && seen.user != user) ||
        (!word.empty() && state_word(seen) != word) ||
        (since && seconds_of(seen.submitted) < *since))
      continue;
    if (count == limit) {
      next = last;
      break;
    }
    if (count++ > 0) list += ',';
    list += state.texts.of(seen);
    list += ",\"eta\":";
    list += state.forecast != nullptr ? eta_text(*state.forecast, seen.id) : "null";
    list += '}';
    last = seen.id;
  }
  return http::text_reply(
      fmt::format(R"({{"schema":"schedmate.jobs.v1","jobs":[{}],"next":{}}})", list, next.dump()),
      "application/json");
}

http::Reply job(const http::Request& request, const State& state) {
  const live::Attempt* const attempt = state.loop.jobs().find(request.ids.at(0));
  if (attempt == nullptr || !request.caller.may_see_jobs_of(attempt->seen.user))
    return not_found(fmt::format("no job {}", request.ids.at(0)));
  Document made = job_of(attempt->seen);
  made["eta"] =
      state.forecast != nullptr ? eta_of(*state.forecast, attempt->seen.id) : Document(nullptr);
  if (const live::Ordering* const ordering = state.loop.ordering())
    if (const auto place = ordering->place(attempt->number))
      made["order"] = {{"now", place->now}, {"would_be", place->would_be}, {"of", place->of}};
  const auto* const use =
      state.desk != nullptr ? state.desk->probes().use_of(attempt->seen) : nullptr;
  made["use"] = use != nullptr ? probe::use_document(*use) : Document(nullptr);
  made["schema"] = "schedmate.job.v1";
  Document actions = Document::array();
  for (const auto& [id, action] : state.loop.actions().all())
    if (action.call.job == attempt->seen.id && action.call.submitted == attempt->seen.submitted)
      actions.push_back(action_document(action));
  made["actions"] = std::move(actions);
  return http::json_reply(made);
}

/// Jobs of others that it waits for are counted, not named.
http::Reply why(const http::Request& request, const State& state) {
  const live::Attempt* const attempt = state.loop.jobs().find(request.ids.at(0));
  if (attempt == nullptr || !request.caller.may_see_jobs_of(attempt->seen.user))
    return not_found(fmt::format("no job {}", request.ids.at(0)));
  const SeenJob& seen = attempt->seen;
  Document made{
      {"schema", "schedmate.why.v1"},
      {"job_id", seen.id},
      {"state", state_word(seen)},
      {"blocked_by", nullptr},
      {"eta", state.forecast != nullptr ? eta_of(*state.forecast, seen.id) : Document(nullptr)}};
  const auto* const all = state.forecast;
  const auto found = all == nullptr ? decltype(all->jobs.end()){} : all->jobs.find(seen.id);
  if (seen.phase != JobPhase::queued || all == nullptr || found == all->jobs.end())
    return http::json_reply(made);
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

/// Jobs of others are counted, not named.
http::Reply cluster(const http::Request& request, const State& state) {
  std::map<std::string, std::pair<std::set<std::int32_t>, Document>> held;  // by node
  Document queue{{"pending", 0}, {"running", 0}};
  for (const auto& [id, attempt] : state.loop.jobs().all()) {
    const SeenJob& seen = attempt.seen;
    if (seen.phase == JobPhase::ended) continue;
    const bool runs = seen.phase == JobPhase::running;
    Document& count = queue[runs ? "running" : "pending"];
    count = count.get<int>() + 1;
    for (const NodeGpus& node : runs ? seen.nodes : std::vector<NodeGpus>()) {
      auto& [gpus, jobs] = held[node.node];
      gpus.insert(node.gpus.begin(), node.gpus.end());
      if (request.caller.may_see_jobs_of(seen.user))
        jobs.push_back({{"id", id}, {"user", seen.user}, {"gpus", node.gpus}});
    }
  }
  Document nodes = Document::array();
  constexpr std::array<std::string_view, 3> words = {"up", "drained", "down"};
  for (const auto& [name, node] : state.loop.actions().nodes()) {
    auto& [gpus, jobs] = held[name];
    nodes.push_back({{"name", name},
                     {"partition", node.partition},
                     {"gpus", node.gpus},
                     {"held", gpus.size()},
                     {"state", words.at(static_cast<std::size_t>(node.state))},
                     {"reason", service::redacted(node.reason)},
                     {"jobs", jobs.is_null() ? Document::array() : jobs}});
    if (state.desk == nullptr)
      nodes.back().update({{"gpus_state", nullptr}, {"probe", nullptr}});
    else
      nodes.back().update(state.desk->probes().state_of(name, state.wall_s));
  }
  Document made{{"schema", "schedmate.cluster.v1"},
                {"nodes", std::move(nodes)},
                {"queue", std::move(queue)},
                {"breaker_open", state.loop.actions().breaker_open()}};
  put_instant(made, "now", state.now);
  put_overview(made, request, state);
  return http::json_reply(made);
}

bool may_see(const http::Request& request, const Action& action, const State& state) {
  if (request.caller.role == Role::cluster_operator) return true;
  const live::Attempt* const attempt = state.loop.jobs().find(action.call.job);
  return attempt != nullptr && attempt->seen.submitted == action.call.submitted &&
         request.caller.may_see_jobs_of(attempt->seen.user);
}

http::Reply actions(const http::Request& request, const State& state) {
  const std::string word = query(request, "state");
  const auto since = parse_number<std::int64_t>(query(request, "since")).value_or(0);
  const auto after = std::max(since, parse_number<std::int64_t>(query(request, "cursor"))
                                         .value_or(std::min<std::int64_t>(since, 0)));
  const std::size_t limit = limit_of(request);
  const auto kept = journal::read_actions({state.journal}, after, limit);
  if (!kept) return http::error_reply(kept.error());
  Document list = Document::array();
  for (const Action& action : *kept)
    if (may_see(request, action, state) && (word.empty() || name_of(action.state()) == word))
      list.push_back(action_document(action));
  const Document next = kept->size() < limit ? Document(nullptr) : Document(kept->back().id);
  return http::json_reply(
      {{"schema", "schedmate.actions.v1"}, {"actions", std::move(list)}, {"next", next}});
}

std::optional<Action> find_action(std::int64_t id, const State& state) {
  if (const Action* const open = state.loop.actions().find(id)) return *open;
  auto kept = journal::read_actions({state.journal}, id - 1, 1);
  if (!kept || kept->empty() || kept->front().id != id) return std::nullopt;
  return std::move(kept->front());
}

http::Reply one_action(const http::Request& request, const State& state) {
  const auto id = parse_number<std::int64_t>(request.ids.at(0));
  const auto action = id ? find_action(*id, state) : std::nullopt;
  if (!action || !may_see(request, *action, state))
    return not_found(fmt::format("no action {}", request.ids.at(0)));
  return http::json_reply(action_document(*action));
}

http::Reply audit(const http::Request& request, const State& state) {
  const auto since = parse_number<std::int64_t>(query(request, "since")).value_or(-100);
  const auto entries = journal::audit_entries({state.journal}, since, limit_of(request));
  if (!entries) return http::error_reply(entries.error());
  return http::json_reply(journal::audit_document(*entries));
}

http::Reply changes(const http::Request& request, const http::EventLog& events) {
  constexpr std::size_t most_bytes = 1U << 20U;
  const auto since = parse_number<std::uint64_t>(query(request, "since")).value_or(0);
  const http::Delta delta = events.since(since, request.caller, most_bytes);
  Document list = Document::array();
  for (const http::NumberedEvent& each : delta.events)
    list.push_back({{"id", each.id},
                    {"kind", each.event.kind},
                    {"data", Document::parse(each.event.data, nullptr, false)}});
  return http::json_reply({{"schema", "schedmate.changes.v1"},
                           {"full", delta.full},
                           {"changes", std::move(list)},
                           {"last", delta.last}});
}

}  // namespace

const std::string& JobTexts::of(const SeenJob& job) {
  const auto [found, fresh] = texts_.try_emplace(job.id);
  if (fresh) {
    found->second = job_of(job).dump(-1, ' ', false, Document::error_handler_t::replace);
    found->second.pop_back();
  }
  return found->second;
}

std::optional<Result<live::Decided>> decision_of(const http::Request& request) {
  using enum live::Decided::What;
  live::Decided made{.what = close_breaker, .by = request.by};
  switch (request.route->name) {
    case RouteName::breaker_close:
      return made;
    case RouteName::approve:
      made.what = approve;
      break;
    case RouteName::reject:
      made.what = reject;
      break;
    case RouteName::undo:
      made.what = undo;
      break;
    default:
      return std::nullopt;
  }
  const auto id = parse_number<std::int64_t>(request.ids.at(0));
  if (!id) return fail(ErrorCode::not_found, fmt::format("no action {}", request.ids.at(0)));
  made.action = *id;
  return made;
}

std::optional<http::Reply> past_decision(const live::Decided& asked, const State& state) {
  if (asked.action == 0 || state.loop.actions().find(asked.action) != nullptr) return std::nullopt;
  const auto action = find_action(asked.action, state);
  if (!action) return std::nullopt;
  const bool undoes = asked.what == live::Decided::What::undo;
  return http::error_reply(
      Error{ErrorCode::conflict,
            fmt::format("action {} is {}, its end: {}", action->id, name_of(action->state()),
                        undoes ? "there is nothing to undo" : "there is nothing to decide")});
}

http::Reply action_reply(std::int64_t id, const State& state) {
  if (id == 0)
    return http::json_reply(
        {{"schema", "schedmate.breaker.v1"}, {"open", state.loop.actions().breaker_open()}});
  const auto action = find_action(id, state);
  return action ? http::json_reply(action_document(*action))
                : not_found(fmt::format("no action {}", id));
}

http::Reply answer_to(const http::Request& request, const State& state,
                      const std::shared_ptr<http::EventLog>& events) {
  switch (request.route->name) {
    case RouteName::jobs:
      return jobs(request, state);
    case RouteName::job:
      return job(request, state);
    case RouteName::why:
      return why(request, state);
    case RouteName::cluster:
      return cluster(request, state);
    case RouteName::actions:
      return actions(request, state);
    case RouteName::action:
      return one_action(request, state);
    case RouteName::audit:
      return audit(request, state);
    case RouteName::changes:
      return changes(request, *events);
    case RouteName::events:
      return {.events = events};
    default:
      return http::error_reply(
          Error{ErrorCode::unsupported,
                fmt::format("this daemon does not answer '{}' yet", request.route->word)});
  }
}

std::optional<http::Event> event_of(const live::Noted& noted, const State& state) {
  const auto text = [](const Document& document) {
    return document.dump(-1, ' ', false, Document::error_handler_t::replace);
  };
  if (noted.what == live::Noted::What::job) {
    const live::Attempt* const attempt = state.loop.jobs().find(noted.id);
    if (attempt == nullptr) return std::nullopt;
    return http::Event{"job", state.texts.of(attempt->seen) + '}', http::Audience::owner,
                       attempt->seen.user};
  }
  return http::Event{"action",
                     text({{"id", parse_number<std::int64_t>(noted.id).value_or(0)},
                           {"state", name_of(noted.state)}}),
                     http::Audience::operators,
                     {}};
}

}  // namespace schedmate::daemon
