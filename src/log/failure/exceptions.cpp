// SPDX-License-Identifier: Apache-2.0
#include "log/failure/exceptions.hpp"

#include <algorithm>
#include <array>

namespace schedmate::failure {
namespace {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_type_name(char c) { return is_name_start(c) || (c >= '0' && c <= '9') || c == '.'; }

/// Without what quotes, JSON and tables put in front.
std::string_view without_frame(std::string_view body) {
  std::size_t at = 0;
  while (at < body.size() && at < 12 && !is_name_start(body[at]) &&
         std::string_view(" \t'\":{([|\xe2\x94\x82").contains(body[at]))
    ++at;
  return body.substr(at);
}

std::string_view name_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_type_name(text[end])) ++end;
  return text.substr(0, end);
}

/// Nothing but space, a colon and text, or a note in parentheses follows.
bool ends_well(std::string_view rest) {
  const auto at = rest.find_first_not_of(" \t\r");
  if (at == std::string_view::npos) return true;
  return (at == 0 && rest[0] == ':' && (rest.size() == 1 || rest[1] == ' ' || rest[1] == '\t')) ||
         rest.substr(at).starts_with("(see above");
}

}  // namespace

std::optional<std::string_view> exception_name(std::string_view body) {
  const auto text = without_frame(body);
  const auto name = name_at(text);
  if (name.size() < 6 || !ends_well(text.substr(name.size()))) return std::nullopt;
  constexpr auto endings = std::to_array<std::string_view>(
      {"Error", "Exception", "Interrupt", "SystemExit", "Timeout", "NotFound", "Fault", "Failure",
       "StopIteration", "GeneratorExit", "NotMet", "Errors", "Killed", "Unavailable",
       "TimeoutExpired"});
  const auto last = name.substr(name.rfind('.') + 1);
  const bool ends =
      std::ranges::any_of(endings, [&](std::string_view ending) { return last.ends_with(ending); });
  // "loss.Failure" is a name, "Failure:" a word.
  const bool word = last == "Failure" || last == "Timeout" || last == "Fault" || last == "Killed";
  if (!ends || (word && last.size() == name.size())) return std::nullopt;
  return name;
}

bool may_be_exception(std::string_view body) {
  const auto name = name_at(body);
  const auto last = name.substr(name.rfind('.') + 1);
  return last.size() > 3 && last[0] >= 'A' && last[0] <= 'Z' && ends_well(body.substr(name.size()));
}

std::optional<Frame> read_frame(std::string_view body) {
  constexpr std::string_view head = "File \"";
  const auto at = body.find(head);
  if (at == std::string_view::npos || at > 60) return std::nullopt;
  const auto file = body.substr(at + head.size());
  const auto end = file.find("\", line ");
  if (end == std::string_view::npos) return std::nullopt;
  const auto in = file.find(", in ", end);
  const auto function =
      in == std::string_view::npos ? std::string_view() : name_at(file.substr(in + 5));
  return Frame{file.substr(0, end), function};
}

}  // namespace schedmate::failure
