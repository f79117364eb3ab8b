// SPDX-License-Identifier: Apache-2.0
#include "http/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "http/routes.hpp"
#include "http/target.hpp"

namespace schedmate::http {
namespace {

constexpr std::array<std::string_view, 6> other_methods{"PUT",     "DELETE", "PATCH",
                                                        "OPTIONS", "TRACE",  "CONNECT"};

Refused refused(Cause cause, const Refusal& refusal) {
  return {cause, error_reply(refusal), false};
}

/// "localhost" of "localhost:8642"; nothing when it is no host at all.
std::optional<std::string> host_name(std::string_view host) {
  std::size_t end = host.find(':');
  if (host.starts_with('[')) {
    end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    ++end;
  }
  end = std::min(end, host.size());
  const std::string_view port = host.substr(end);
  const bool is_port = port.empty() || (port.starts_with(':') && port.size() <= 6 &&
                                        std::ranges::all_of(port.substr(1), is_digit));
  std::string name = lower_case(host.substr(0, end));
  if (name.empty() || !is_port) return std::nullopt;
  return name;
}

std::optional<Refused> check_host(const Head& head, const Peer& peer, const AccessRules& rules) {
  // No browser and no name leads to the unix socket, but HTTP/1.1 has to give one.
  if (peer.is_unix && (head.has("host") || head.minor_version == 0)) return std::nullopt;
  const auto name = host_name(head.header("host"));
  if (!name)
    return refused(Cause::host, {.status = 400,
                                 .message = "the Host header is missing or is not a host name",
                                 .mend = "send the name and port that you connected to"});
  if (std::ranges::find(rules.hosts, *name) != rules.hosts.end()) return std::nullopt;
  return refused(Cause::host,
                 {.status = 421,
                  .message = fmt::format("this daemon is not called '{}'", printable(*name)),
                  .mend = "use one of its names, or have its operator add this one to them"});
}

/// A browser that was sent here by a page of another site. It may only follow a link to what is for
/// anyone.
std::optional<Refused> check_site(const Head& head, const Route& route) {
  const std::string_view site = head.header("sec-fetch-site");
  const bool follows_link = route.who == Who::anyone && route.effect == Effect::reads &&
                            head.header("sec-fetch-mode") == "navigate" &&
                            head.header("sec-fetch-dest") == "document" && !head.has("origin");
  bool is_foreign = head.has("sec-fetch-site") && site != "same-origin" && site != "none";
  if (head.has("origin")) {
    std::string_view origin = head.header("origin");
    const std::size_t slashes = origin.find("://");
    const std::string_view scheme = origin.substr(0, std::min(slashes, origin.size()));
    const bool is_web =
        slashes != std::string_view::npos && (scheme == "http" || scheme == "https");
    origin.remove_prefix(is_web ? slashes + 3 : 0);
    is_foreign = is_foreign || !is_web || lower_case(origin) != lower_case(head.header("host"));
  }
  if (!is_foreign || follows_link) return std::nullopt;
  return refused(Cause::cross_site,
                 {.status = 403,
                  .message = "a page of another site sent this request",
                  .mend = "send it from the page of this daemon, or from a program"});
}

struct Known {
  Caller caller;
  bool is_known = false;
  std::string by = "nobody";
  std::string token_hash{};
};

Refused wrong_token(std::string message) {
  Refused made = refused(
      Cause::token, {.status = 401,
                     .message = std::move(message),
                     .mend = "get a token from the operator (schedmate token add) and send it as "
                             "Authorization: Bearer TOKEN",
                     .headers = {{"WWW-Authenticate", "Bearer"}}});
  made.is_login_failure = true;
  return made;
}

std::variant<Known, Refused> known_by_token(const Head& head, const AccessState& access) {
  if (!head.has("authorization")) return Known{};
  const std::string_view value = head.header("authorization");
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos || lower_case(value.substr(0, blank)) != "bearer")
    return wrong_token("the header Authorization is not 'Bearer TOKEN'");
  const Token* const token = find_token(access.tokens, trim(value.substr(blank + 1)));
  if (token == nullptr) return wrong_token("this token is not known here, or was revoked");
  return Known{.caller = {token->user, token->role, access.rules.viewers_see_all},
               .is_known = true,
               .by = "token " + token->label,
               .token_hash = token->hash};
}

Known known_by_uid(const Peer& peer, const AccessRules& rules) {
  const auto among = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, peer.user) != names.end();
  };
  Role role = Role::owner;
  if (among(rules.viewers)) role = Role::viewer;
  if (among(rules.operators)) role = Role::cluster_operator;
  const bool is_named = !peer.user.starts_with("uid:");
  return {.caller = {peer.user, role, rules.viewers_see_all},
          .is_known = true,
          .by = is_named ? fmt::format("{} ({})", peer.user, peer.address) : peer.address};
}

std::optional<Refused> check_role(const Route& route, const Known& known) {
  if (may_use(route.who, known.is_known, known.caller.role)) return std::nullopt;
  if (!known.is_known) {
    Refused made = wrong_token("this route needs a token");
    made.is_login_failure = false;
    return made;
  }
  return refused(
      Cause::role,
      {.status = 403,
       .message = fmt::format("the role {} may not use this route", name_of(known.caller.role)),
       .mend = route.who == Who::operators ? "ask an operator of this cluster"
                                           : "use a token of a role that may"});
}

std::optional<Refused> check_body(const Head& head, const Route& route) {
  const auto refuse = [](int status, std::string message, std::string mend) {
    return refused(status == 413 ? Cause::limit : Cause::malformed,
                   {.status = status, .message = std::move(message), .mend = std::move(mend)});
  };
  if (head.content_length > route.largest_body)
    return refuse(413,
                  route.largest_body == 0
                      ? std::string("this route takes no body")
                      : fmt::format("the body has {} bytes; this route takes {}",
                                    head.content_length, route.largest_body),
                  "send less");
  if (head.has("expect") && lower_case(head.header("expect")) != "100-continue")
    return refuse(417, "the header Expect is not 100-continue", "leave it out");
  if (head.content_length == 0) return std::nullopt;
  const std::string type = lower_case(head.header("content-type"));
  const std::string_view media = trim(std::string_view(type).substr(0, type.find(';')));
  if (media != "application/json" || head.has("content-encoding"))
    return refuse(415, "the body is not plain application/json",
                  "send JSON with Content-Type: application/json");
  return std::nullopt;
}

Headers wanted_headers(const Head& head) {
  Headers wanted;
  for (const auto& [name, value] : head.headers)
    if (name == "content-type" || name == "if-none-match" || name == "idempotency-key" ||
        name.starts_with("x-schedmate-"))
      wanted.emplace_back(name, printable(value));
  return wanted;
}

std::optional<Method> method_of(std::string_view name) {
  if (name == "GET" || name == "HEAD") return Method::get;
  if (name == "POST") return Method::post;
  return std::nullopt;
}

/// The row and what stands in its place holders, or why there is none.
std::variant<Match, Refused> find_route(const Head& head, const Target& target) {
  const auto method = method_of(head.method);
  Match match = match_route(method, target.parts);
  if (match.route != nullptr) return match;
  if (!method && std::ranges::find(other_methods, head.method) == other_methods.end())
    return refused(Cause::route, {.status = 501,
                                  .message = "no such method",
                                  .mend = "use GET, HEAD or POST, as docs/http.md says"});
  if (match.allowed.empty())
    return refused(Cause::route, {.status = 404,
                                  .message = "there is nothing at this path",
                                  .mend = "docs/http.md lists the routes"});
  return refused(Cause::route, {.status = 405,
                                .message = fmt::format("this route takes no {}", head.method),
                                .mend = fmt::format("use {}", match.allowed),
                                .headers = {{"Allow", match.allowed}}});
}

Refused bad_target(const Error& error) {
  return refused(
      Cause::malformed,
      {.status = 400, .message = error.message, .mend = "correct the path or the query"});
}

}  // namespace

std::variant<Admitted, Refused> admit(const Head& head, const Peer& peer,
                                      const AccessState& access) {
  if (auto no = check_host(head, peer, access.rules)) return *no;
  auto target = read_target(head.target);
  if (!target) return bad_target(target.error());
  auto found = find_route(head, *target);
  if (auto* const no = std::get_if<Refused>(&found)) return *no;
  auto& match = std::get<Match>(found);
  if (auto no = check_site(head, *match.route)) return *no;

  std::variant<Known, Refused> identified = known_by_uid(peer, access.rules);
  if (!peer.is_unix) identified = known_by_token(head, access);
  if (auto* const no = std::get_if<Refused>(&identified)) return *no;
  auto& known = std::get<Known>(identified);
  if (auto no = check_role(*match.route, known)) return *no;
  if (auto fine = check_query(*target, match.route->query); !fine) return bad_target(fine.error());
  if (auto no = check_body(head, *match.route)) return *no;

  Admitted made{.request = {.route = match.route,
                            .ids = std::move(match.ids),
                            .query = std::move(target->query),
                            .headers = wanted_headers(head),
                            .caller = std::move(known.caller),
                            .by = std::move(known.by)},
                .body_bytes = head.content_length,
                .head_only = head.method == "HEAD",
                .token_hash = std::move(known.token_hash)};
  if (head.has("last-event-id")) {
    made.request.last_event_id = parse_number<std::uint64_t>(head.header("last-event-id"));
    if (!made.request.last_event_id)
      return bad_target({ErrorCode::invalid, "Last-Event-ID is not a number"});
  }
  return made;
}

}  // namespace schedmate::http
