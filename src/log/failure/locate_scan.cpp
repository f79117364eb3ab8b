// SPDX-License-Identifier: Apache-2.0

/// `scan`: every line is looked at, since errors are not monotone. Of the last run that failed, the
/// heaviest cause counts, of equals the earliest; where there is none, the first cascade, then the
/// first line of the teardown. What training went on after is not the failure.

#include <algorithm>

#include "log/failure/exceptions.hpp"
#include "log/failure/failure_scan.hpp"
#include "log/lines/lines.hpp"

namespace schedmate::failure {
namespace {

/// So many progress lines after a line say that the run survived it.
std::uint64_t survived_after(const FailureLine& line) {
  if (line.weight >= 4) return 12;
  return line.weight <= 1 ? 2 : 6;
}

/// A mere word like "error" counts near the end only.
constexpr std::uint64_t words_count_for = 200;

bool is_earlier(const FailureLine& a, const FailureLine& b) {
  const bool timed = a.time && b.time && a.time->dated == b.time->dated;
  const bool apart = a.file != b.file || (a.rank != b.rank && a.rank >= 0 && b.rank >= 0);
  if (timed && apart && a.time->seconds != b.time->seconds)
    return a.time->seconds < b.time->seconds;
  return a.file == b.file && a.line < b.line;
}

int order_of(const FailureLine& line) {
  if (line.role == LineRole::cause) return 10 + line.weight;
  return line.role == LineRole::cascade ? 2 + std::min(line.weight, 3) : 1;
}

/// The same exception of another rank, or of the same line again.
bool is_alike(const FailureLine& a, const FailureLine& b) {
  const auto name_of_line = [](const FailureLine& line) {
    return exception_name(lines::read_prefixes(line.text).body).value_or("");
  };
  return a.hash == b.hash || (!name_of_line(a).empty() && name_of_line(a) == name_of_line(b));
}

/// The program went on for long after `b` and then said something else that weighs as much.
bool is_later_end(const FailureLine& a, const FailureLine& b) {
  return a.file == b.file && a.era > b.era && a.weight >= 3 && b.weight >= 3 &&
         a.weight >= b.weight && a.role == LineRole::cause && b.role == LineRole::cause &&
         !is_alike(a, b);
}

bool is_better(const FailureLine& a, const FailureLine& b) {
  const bool causes = (a.role == LineRole::cause) == (b.role == LineRole::cause);
  if (causes && a.file == b.file && a.run != b.run) return a.run > b.run;
  if (is_later_end(a, b)) return true;
  if (is_later_end(b, a)) return false;
  if (order_of(a) != order_of(b)) return order_of(a) > order_of(b);
  return is_earlier(a, b);
}

void keep_live(const FailureScan& scan, std::vector<FailureLine>& live) {
  for (const FailureLine& each : scan.found()) {
    if (scan.progress() - each.progress_before >= survived_after(each)) continue;
    const bool word = each.role == LineRole::cause && each.weight <= 1;
    if (word && each.line + words_count_for < scan.lines()) continue;
    live.push_back(each);
  }
}

}  // namespace

Result<Located> locate_scan(const LocateInput& input) {
  Located located;
  for (std::size_t file = 0; file < input.paths.size(); ++file) {
    FailureScan scan(file, input);
    const auto done =
        lines::each_line({input.paths[file], input.access}, [&](const lines::Line& line) {
          scan.take(line);
          return true;
        });
    if (!done && scan.lines() == 0) return tl::unexpected(done.error());
    if (!done) located.cut_short.push_back(done.error());
    located.lines += scan.lines();
    located.progress += scan.progress();
    const auto before = located.others.size();
    keep_live(scan, located.others);
    located.survived += scan.found().size() - (located.others.size() - before);
  }
  if (located.others.empty()) return located;
  auto root = located.others.begin();
  for (auto it = located.others.begin(); it != located.others.end(); ++it)
    if (is_better(*it, *root)) root = it;
  // The exception at its end says more than a traceback's head.
  if (root->role == LineRole::cascade) {
    const auto end = std::ranges::find_if(located.others, [&](const FailureLine& each) {
      return each.file == root->file && each.begins == root->line && each.line > root->line;
    });
    if (end != located.others.end()) root = end;
  }
  located.root = *root;
  located.others.erase(root);
  std::erase_if(located.others, [&](const FailureLine& each) {
    return each.file == located.root->file && each.run != located.root->run;
  });
  return located;
}

}  // namespace schedmate::failure
