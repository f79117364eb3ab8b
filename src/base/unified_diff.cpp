// SPDX-License-Identifier: Apache-2.0
#include "base/unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/text.hpp"

namespace schedmate {
namespace {

using Lines = std::vector<std::string_view>;

/// A line that stays, goes or comes; `old_at` and `new_at`: lines before it on either side.
struct DiffStep {
  char kind;
  std::string_view line;
  std::size_t old_at, new_at;
};

/// Greedy: at the first difference the nearest pair of lines at which the texts go on alike.
std::vector<DiffStep> steps_of(const Lines& before, const Lines& after) {
  constexpr std::size_t alike_enough = 2;  // lines, so that a lone blank line joins nothing
  std::vector<DiffStep> steps;
  std::size_t i = 0, j = 0;
  const auto go_on_alike = [&](std::size_t x, std::size_t y) {
    if (x == before.size() || y == after.size()) return x == before.size() && y == after.size();
    for (std::size_t k = 0; k < alike_enough; ++k) {
      if (x + k == before.size() && y + k == after.size()) return true;
      if (x + k >= before.size() || y + k >= after.size() || before[x + k] != after[y + k])
        return false;
    }
    return true;
  };
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      steps.push_back({' ', before[i], i, j});
      ++i;
      ++j;
      continue;
    }
    std::size_t gone = before.size() - i, come = after.size() - j;
    for (std::size_t far = 1; far < (before.size() - i) + (after.size() - j); ++far) {
      const std::size_t first = far > after.size() - j ? far - (after.size() - j) : 0;
      bool is_found = false;
      for (std::size_t away = first; away <= std::min(far, before.size() - i); ++away)
        if (!is_found && go_on_alike(i + away, j + far - away)) {
          gone = away;
          come = far - away;
          is_found = true;
        }
      if (is_found) break;
    }
    for (; gone > 0; --gone, ++i) steps.push_back({'-', before[i], i, j});
    for (; come > 0; --come, ++j) steps.push_back({'+', after[j], i, j});
  }
  return steps;
}

/// Of one side: "FIRST,COUNT", where an empty one stands behind line FIRST.
std::string range_of(std::size_t before_it, std::size_t count) {
  return fmt::format("{},{}", count == 0 ? before_it : before_it + 1, count);
}

std::string hunk(const std::vector<DiffStep>& steps, std::size_t begin, std::size_t end) {
  std::string body;
  std::size_t old_count = 0, new_count = 0;
  for (std::size_t at = begin; at < end; ++at) {
    const DiffStep& step = steps[at];
    if (step.kind != '+') ++old_count;
    if (step.kind != '-') ++new_count;
    body += step.kind;
    body += step.line;
    if (!step.line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
  }
  return fmt::format("@@ -{} +{} @@\n{}", range_of(steps[begin].old_at, old_count),
                     range_of(steps[begin].new_at, new_count), body);
}

}  // namespace

std::string unified_diff(const DiffSide& before, const DiffSide& after) {
  if (before.text == after.text) return {};
  constexpr std::size_t around = 3;
  const auto steps = steps_of(whole_lines(before.text), whole_lines(after.text));
  std::string text = fmt::format("--- {}\n+++ {}\n", before.name, after.name);
  for (std::size_t at = 0; at < steps.size();) {
    if (steps[at].kind == ' ') {
      ++at;
      continue;
    }
    const std::size_t begin = at - std::min(at, around);
    std::size_t last = at;  // of the changes that are near enough to each other
    for (; at < steps.size() && at <= last + 2 * around; ++at)
      if (steps[at].kind != ' ') last = at;
    at = std::min(last + 1 + around, steps.size());
    text += hunk(steps, begin, at);
  }
  return text;
}

}  // namespace schedmate
