// SPDX-License-Identifier: Apache-2.0

/// `tail`: the paper's baseline without locator. The last 500 lines of a log, and in them the first
/// line that the classifier calls a failure.

#include <deque>

#include "log/failure/locate.hpp"
#include "log/lines/lines.hpp"

namespace schedmate::failure {
namespace {

constexpr std::size_t window = 500;

}  // namespace

Result<Located> locate_tail(const LocateInput& input) {
  Located located;
  std::string scratch;
  for (std::size_t file = 0; file < input.paths.size() && !located.root; ++file) {
    std::deque<lines::Line> numbers;
    std::deque<std::string> texts;
    const auto done =
        lines::each_line({input.paths[file], input.access}, [&](const lines::Line& line) {
          ++located.lines;
          numbers.push_back({line.number, {}});
          texts.emplace_back(line.text);
          if (numbers.size() > window) numbers.pop_front();
          if (texts.size() > window) texts.pop_front();
          return true;
        });
    if (!done && texts.empty()) return tl::unexpected(done.error());
    if (!done) located.cut_short.push_back(done.error());
    for (std::size_t i = 0; i < texts.size() && !located.root; ++i) {
      for (const auto state : lines::states_of(lines::without_escapes(texts[i], scratch))) {
        const LineVerdict verdict = input.kinds.of(state);
        if (verdict.kind != LineKind::failure || located.root) continue;
        located.root = failure_line(state, verdict);
        located.root->file = file;
        located.root->line = located.root->begins = numbers[i].number;
      }
    }
  }
  return located;
}

}  // namespace schedmate::failure
