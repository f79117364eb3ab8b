// SPDX-License-Identifier: Apache-2.0
#include "log/failure/good_run.hpp"

#include <deque>
#include <unordered_map>
#include <utility>

#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"
#include "log/lines/template.hpp"

namespace schedmate::failure {

Result<void> add_templates(const ForeignPath& path, KnownTemplates& known) {
  std::string scratch;
  auto done = lines::each_line(path, [&](const lines::Line& line) {
    for (const auto state : lines::states_of(lines::without_escapes(line.text, scratch)))
      known.insert(lines::template_hash(state));
    return known.size() < most_known_templates;
  });
  if (!done && known.empty()) return done;
  return {};
}

Result<std::vector<LogEvidence>> new_lines(const ForeignPath& path, const KnownTemplates& known,
                                           std::size_t most) {
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  std::deque<std::pair<std::uint64_t, LogEvidence>> kept;  // with the hash of its template
  std::string scratch;
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    for (const auto state : lines::states_of(lines::without_escapes(line.text, scratch))) {
      const auto hash = lines::template_hash(state);
      if (known.contains(hash)) continue;
      if (counts.size() >= most_known_templates && !counts.contains(hash)) continue;
      if (++counts[hash] > 1) continue;
      kept.push_back({hash, {path.name, line.number, std::string(state), LineRole::cascade}});
      if (kept.size() > most) kept.pop_front();
    }
    return true;
  });
  if (!done && kept.empty()) return tl::unexpected(done.error());
  std::vector<LogEvidence> lines;
  for (auto& [hash, line] : kept) {
    line.count = counts[hash];
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace schedmate::failure
