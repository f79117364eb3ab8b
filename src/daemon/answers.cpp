// SPDX-License-Identifier: Apache-2.0
#include "daemon/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "daemon/parts.hpp"
#include "http/openapi.hpp"
#include "http/routes.hpp"

namespace schedmate::daemon {
namespace {

using http::RouteName;

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

http::Reply not_found(std::string what) {
  return http::error_reply(Error{ErrorCode::not_found, std::move(what)});
}

std::string query(const http::Request& request, std::string_view name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

std::size_t limit_of(const http::Request& request, std::size_t most) {
  constexpr std::size_t usual = 1000;
  return std::clamp<std::size_t>(parse_number<std::size_t>(query(request, "limit")).value_or(usual),
                                 1, most);
}

std::optional<http::Reply> wrong_number(const http::Request& request) {
  for (const char* name : {"since", "limit", "tail"}) {
    const auto found = request.query.find(name);
    if (found == request.query.end()) continue;
    const bool counts = std::string_view(name) == "limit";
    const auto number = parse_number<std::int64_t>(found->second);
    if (!number || (counts && *number < 1))
      return http::error_reply(
          Error{ErrorCode::invalid, fmt::format("query parameter {}: a whole number{} is expected",
                                                name, counts ? " of at least 1" : "")});
  }
  return std::nullopt;
}

http::Reply wrong_cursor() {
  return http::error_reply(
      Error{ErrorCode::invalid, "query parameter cursor: `next` of the page before is expected"});
}

http::Reply answer_to(const http::Request& request, const State& state,
                      const std::shared_ptr<http::EventLog>& events) {
  if (auto wrong = wrong_number(request)) return std::move(*wrong);
  switch (request.route->name) {
    case RouteName::jobs:
      return jobs_reply(request, state);
    case RouteName::why:
      return why_reply(request, state);
    case RouteName::cluster:
      return cluster_reply(request, state);
    case RouteName::ledger:
      return ledger_reply(request, state);
    case RouteName::changes:
      return changes(request, *events);
    case RouteName::openapi:
      return http::text_reply(http::openapi_text(), "application/json");
    case RouteName::events:
      return {.events = events};
    default:
      return http::error_reply(
          Error{ErrorCode::unsupported,
                fmt::format("this daemon does not answer '{}'", request.route->word)});
  }
}

std::optional<http::Event> event_of(const live::Noted& noted, const State& state) {
  if (noted.what == live::Noted::What::job) {
    const live::Attempt* const attempt = state.loop.jobs().find(noted.id);
    if (attempt == nullptr) return std::nullopt;
    return http::Event{"job", state.texts.of(attempt->seen, state.loop.lives()) + '}',
                       http::Audience::owner, attempt->seen.user};
  }
  const auto id = parse_number<std::int64_t>(noted.id).value_or(0);
  Document told{{"id", id}, {"state", name_of(noted.state)}};
  if (const Action* const action = state.loop.actions().find(id)) {
    told["kind"] = name_of(action->call.kind);
    told["target"] = targets_of(action->call);
  }
  return http::Event{"action", in_one_line(told), http::Audience::operators, {}};
}

}  // namespace schedmate::daemon
