// SPDX-License-Identifier: Apache-2.0
#include "replay/bad_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/text.hpp"

namespace schedmate::replay {

Result<BadNode> read_bad_node(std::string_view text, SimTime first) {
  BadNode made{std::string(text.substr(0, text.find(':'))), SimTime::min(), never};
  constexpr std::int64_t latest_s = 100LL * 366 * 86400;
  bool fits = !made.node.empty();
  std::string_view rest = text.substr(made.node.size());
  for (SimTime* const instant : {&made.from, &made.until}) {
    if (rest.empty()) break;
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(':'));
    const auto after_s = parse_number<std::int64_t>(word);
    fits = fits && after_s && *after_s >= 0 && *after_s <= latest_s;
    *instant = first + Seconds(after_s.value_or(0));
    rest.remove_prefix(word.size());
  }
  if (fits && rest.empty() && made.from < made.until) return made;
  return fail(ErrorCode::invalid,
              fmt::format("'{}': NODE, NODE:FROM_S or NODE:FROM_S:UNTIL_S, in seconds after the "
                          "first submission",
                          text));
}

bool ran_on(const std::vector<BadNode>& bad, const SeenJob& job) {
  if (!job.started || !job.ended) return false;
  return std::ranges::any_of(bad, [&](const BadNode& each) {
    return each.from < *job.ended && *job.started < each.until &&
           std::ranges::find(job.nodes, each.node, &NodeGpus::node) != job.nodes.end();
  });
}

}  // namespace schedmate::replay
