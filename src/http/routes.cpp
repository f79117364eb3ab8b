// SPDX-License-Identifier: Apache-2.0
#include "http/routes.hpp"

#include <algorithm>
#include <array>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::http {
namespace {

constexpr std::array table{
#define ROUTE(name, method, path, who, effect, body, query, schema, gives) \
  Route{RouteName::name, #name, Method::method, path,   Who::who,          \
        Effect::effect,  body,  query,          schema, gives},
#include "http/routes.def"
#undef ROUTE
};

// A row that changes something is no GET: caches, prefetches and links send those unasked.
static_assert(std::ranges::none_of(table, [](const Route& row) {
  return row.effect == Effect::changes && (row.method == Method::get || row.who == Who::anyone);
}));

bool is_id(std::string_view text) {
  constexpr std::size_t longest = 128;
  return !text.empty() && text.size() <= longest && text != "." && text != ".." &&
         std::ranges::all_of(text, [](char c) {
           return is_letter(c) || is_digit(c) || std::string_view("-_.:+@[]~").contains(c);
         });
}

/// What stands in the place holders; nothing: the path is another.
std::optional<std::vector<std::string>> ids_of(std::string_view pattern,
                                               std::span<const std::string> parts) {
  std::vector<std::string> ids;
  std::size_t at = 0;
  pattern.remove_prefix(1);  // the first slash
  for (const std::string_view wanted : split(pattern, '/')) {
    if (at == parts.size()) return std::nullopt;
    const std::string& part = parts[at++];
    const bool is_place = wanted == "{ID}";
    if (is_place ? !is_id(part) : wanted != part) return std::nullopt;
    if (is_place) ids.push_back(part);
  }
  if (at != parts.size()) return std::nullopt;
  return ids;
}

}  // namespace

std::span<const Route> routes() { return table; }

Match match_route(std::optional<Method> method, std::span<const std::string> parts) {
  Match match;
  for (const Route& row : table) {
    auto ids = ids_of(row.path, parts);
    if (!ids) continue;
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += row.method == Method::get ? "GET, HEAD" : "POST";
    if (row.method != method) continue;
    match.route = &row;
    match.ids = std::move(*ids);
  }
  return match;
}

bool may_use(Who who, bool is_known, Role role) {
  switch (who) {
    case Who::anyone:
    case Who::sealed:
      return true;
    case Who::known:
      return is_known;
    case Who::owners:
      return is_known && role != Role::viewer;
    case Who::operators:
      return is_known && role == Role::cluster_operator;
  }
  return false;
}

}  // namespace schedmate::http
