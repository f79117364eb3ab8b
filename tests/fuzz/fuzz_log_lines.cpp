// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/check.hpp"
#include "log/lines/lines.hpp"
#include "log/progress/tracker.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {

/// Lines are numbered and bounded; progress is finite or unknown, and what is left never negative.
void fuzz_log_lines(std::string_view input) {
  progress::ProgressTracker tracker;
  std::uint64_t lines = 0;
  lines::each_line_of(input, [&](const lines::Line& line) {
    SCHEDMATE_CHECK(line.number == ++lines, "lines count from 1");
    SCHEDMATE_CHECK(line.text.size() <= lines::most_line_bytes, "a line is bounded");
    SCHEDMATE_CHECK(!line.text.contains('\n'), "a line has no end in it");
    tracker.add(line.text);
    return true;
  });
  const Progress progress = tracker.now();
  if (progress.step_time_s)
    SCHEDMATE_CHECK(std::isfinite(*progress.step_time_s) && *progress.step_time_s > 0,
                    "a step takes time");
  if (progress.remaining_s)
    SCHEDMATE_CHECK(std::isfinite(*progress.remaining_s) && *progress.remaining_s >= 0,
                    "what is left is finite");
  SCHEDMATE_CHECK(progress_json(progress).size() < 100'000, "a document is bounded");
}

}  // namespace schedmate::fuzz
