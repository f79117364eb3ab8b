// SPDX-License-Identifier: Apache-2.0
#include "trace/hostlist.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "base/text.hpp"

namespace schedmate::trace {
namespace {

using Names = std::vector<std::string>;

tl::unexpected<Error> wrong(std::string_view what) {
  return fail(ErrorCode::invalid, std::string(what));
}

tl::unexpected<Error> too_many() {
  return fail(ErrorCode::invalid, fmt::format("names more than {} nodes", most_hosts));
}

/// "01-03" or "7" of a bracket: the numbers as they are written.
Result<void> expand_range(std::string_view range, Names& out) {
  constexpr std::size_t most_digits = 18;
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
  if (low.size() > most_digits || high.size() > most_digits) return too_many();
  const auto from = parse_number<std::uint64_t>(low);
  const auto to = parse_number<std::uint64_t>(high);
  if (!from || !to) return wrong("has something other than numbers in brackets");
  if (*to < *from) return wrong("has a range in brackets that runs backwards");
  if (*to - *from >= most_hosts - out.size()) return too_many();
  for (std::uint64_t n = *from; n <= *to; ++n) out.push_back(fmt::format("{:0{}}", n, low.size()));
  return {};
}

/// Each of `heads` followed by each number of the bracket.
Result<Names> append_bracket(const Names& heads, std::string_view bracket) {
  Names numbers;
  for (const std::string_view range : split(bracket, ',')) {
    if (auto done = expand_range(range, numbers); !done) return tl::unexpected(done.error());
  }
  if (heads.size() * numbers.size() > most_hosts) return too_many();
  Names out;
  out.reserve(heads.size() * numbers.size());
  for (const std::string& head : heads) {
    for (const std::string& number : numbers) out.push_back(head + number);
  }
  return out;
}

/// One entry: letters and brackets in turn.
Result<Names> expand_entry(std::string_view entry) {
  Names names{""};
  while (!entry.empty()) {
    const std::size_t open = entry.find_first_of("[]");
    const std::string_view plain = entry.substr(0, open);
    if (plain.find_first_of(" \t") != std::string_view::npos) return wrong("has a space in a name");
    for (std::string& name : names) name += plain;
    if (open == std::string_view::npos) break;
    if (entry[open] == ']') return wrong("has a ']' without its '['");
    const std::size_t close = entry.find_first_of("[]", open + 1);
    if (close == std::string_view::npos || entry[close] == '[') {
      return wrong("has a '[' without its ']'");
    }
    auto more = append_bracket(names, entry.substr(open + 1, close - open - 1));
    if (!more) return more;
    names = std::move(*more);
    entry.remove_prefix(close + 1);
  }
  return names;
}

/// Takes the text up to the next comma outside brackets.
std::string_view take_entry(std::string_view& list) {
  std::size_t at = 0;
  for (bool inside = false; at < list.size() && (inside || list[at] != ','); ++at) {
    if (list[at] == '[') inside = true;
    if (list[at] == ']') inside = false;
  }
  const std::string_view entry = list.substr(0, at);
  list.remove_prefix(std::min(at + 1, list.size()));
  return entry;
}

}  // namespace

Result<Names> expand_hosts(std::string_view list) {
  Names names;
  if (list == "None assigned" || list == "None" || list == "(null)") return names;
  while (!list.empty()) {
    const std::string_view entry = take_entry(list);
    if (entry.empty()) return wrong("has an empty name between commas");
    auto more = expand_entry(entry);
    if (!more) return more;
    if (names.size() + more->size() > most_hosts) return too_many();
    for (std::string& name : *more) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace schedmate::trace
