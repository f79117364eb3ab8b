// SPDX-License-Identifier: Apache-2.0
/// Actions, decisions about them, and the audit chain.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "core/action_json.hpp"
#include "daemon/parts.hpp"
#include "http/routes.hpp"
#include "journal/audit_json.hpp"
#include "service/action_texts.hpp"

namespace schedmate::daemon {
namespace {

using http::RouteName;

constexpr std::size_t most_of_page = 1000;

http::Reply wrong_state(const std::string& word) {
  std::vector<std::string_view> all;
  for (int i = 0; i < action_states; ++i) all.push_back(name_of(static_cast<ActionState>(i)));
  return http::error_reply(Error{ErrorCode::invalid, unknown_name("state", word, all)});
}

std::optional<Action> kept_action(std::int64_t id, const std::string& journal) {
  auto kept = journal::read_actions({journal}, std::vector{id});
  if (!kept || kept->empty()) return std::nullopt;
  return std::move(kept->front());
}

std::optional<Action> find_action(std::int64_t id, const State& state) {
  if (const Action* const open = state.loop.actions().find(id)) return *open;
  return kept_action(id, state.journal);
}

}  // namespace

bool SeenActions::holds(const Action& action) const {
  if (all()) return true;
  if (action.call.kind == ActionKind::submit) return caller_.may_see_jobs_of(action.call.user);
  if (owners_ == nullptr) return false;
  const auto job = owners_->find(action.call.job);
  return job != owners_->end() &&
         job->second.submitted == action.call.submitted &&  // ids come again
         caller_.may_see_jobs_of(job->second.user);
}

Document shown_action(const Action& action) {
  Document made = service::without_secrets(action_document(action));
  for (std::size_t i = 0; i < action.steps.size(); ++i)
    put_instant(made["steps"][i], "when", action.steps[i].when);
  if (action.call.kind != ActionKind::submit) return made;
  constexpr std::string_view before = "job ";  // of the note that says which job it is
  const std::string& note = action.steps.back().note;
  const bool is_there = action.state() == ActionState::verified && note.starts_with(before);
  made["job"] = is_there ? Document(note.substr(before.size())) : Document(nullptr);
  return made;
}

Document shown_action(const Action& action, const Caller& caller) {
  Document made = shown_action(action);
  if (!caller.may_see_jobs_of("")) made["call"].erase("shared_with");
  return made;
}

http::Reply actions_reply(const http::Request& request, const SeenActions& seen,
                          const std::string& journal) {
  if (auto wrong = wrong_number(request)) return std::move(*wrong);
  const std::string word = query(request, "state"), cursor = query(request, "cursor");
  journal::ActionsWanted wanted{
      .since = parse_number<std::int64_t>(query(request, "since")).value_or(0),
      .before = parse_number<std::int64_t>(cursor).value_or(0),
      .state = action_state_of(word)};
  if (!word.empty() && !wanted.state) return wrong_state(word);
  if (!cursor.empty() && wanted.before < 1) return wrong_cursor();
  const std::size_t limit = limit_of(request, most_of_page);
  // Who sees few of them reads on, so far and no farther in one request.
  constexpr std::size_t most_hidden = 1000;
  wanted.limit = limit + 1 + (seen.all() ? 0 : most_hidden);
  const auto kept = journal::read_actions({journal}, wanted);
  if (!kept) return http::error_reply(kept.error());
  Document list = Document::array(), next = nullptr;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < kept->size() && next.is_null(); ++i) {
    const Action& action = (*kept)[i];
    if (i + 1 == wanted.limit || list.size() == limit) next = last;
    if (next.is_null() && seen.holds(action)) list.push_back(shown_action(action, request.caller));
    last = action.id;
  }
  return http::json_reply(
      {{"schema", "schedmate.actions.v1"}, {"actions", std::move(list)}, {"next", next}});
}

http::Reply one_action_reply(const http::Request& request, const SeenActions& seen,
                             const std::string& journal, const Action* open) {
  const auto id = parse_number<std::int64_t>(request.ids.at(0));
  const auto action = open != nullptr ? *open : id ? kept_action(*id, journal) : std::nullopt;
  if (!action || !seen.holds(*action))
    return not_found(fmt::format("no action {}", request.ids.at(0)));
  return http::json_reply(shown_action(*action, request.caller));
}

http::Reply audit_reply(const http::Request& request, const std::string& journal) {
  if (auto wrong = wrong_number(request)) return std::move(*wrong);
  const auto since = parse_number<std::int64_t>(query(request, "since")).value_or(-100);
  const auto entries = journal::audit_entries({journal}, since, limit_of(request));
  if (!entries) return http::error_reply(entries.error());
  return http::json_reply(service::without_secrets(journal::audit_document(*entries)));
}

std::optional<Result<live::Decided>> decision_of(const http::Request& request) {
  using enum live::Decided::What;
  live::Decided made{.what = close_breaker, .by = request.by};
  switch (request.route->name) {
    case RouteName::breaker_close:
      break;
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
  if (request.json != nullptr && !request.json->is_object())
    return fail(ErrorCode::invalid, "a decision has no body, or an object");
  if (made.what == close_breaker) return made;
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
  if (undoes && action->state() == ActionState::verified)
    if (const auto call = live::undoing(*action); !call) return http::error_reply(call.error());
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
  return action ? http::json_reply(shown_action(*action))
                : not_found(fmt::format("no action {}", id));
}

}  // namespace schedmate::daemon
