// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "log/progress/log_words.hpp"
#include "log/progress/reading.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {

/// A table of formats is an error with its place, or rows that read any line; a pattern likewise.
void fuzz_log_formats(std::string_view input) {
  const auto words = progress::LogWords::parse(input);
  if (!words)
    SCHEDMATE_CHECK(words.error().message.starts_with("log_formats.toml:"),
                    "an error has its place");
  const auto half = input.size() / 2;
  const auto pattern = progress::LinePattern::parse(input.substr(0, half));
  if (pattern) (void)pattern->read(input.substr(half));
  if (!words) return;
  const progress::Reading reading =
      progress::read_line(lines::read_prefixes(input.substr(half)), *words);
  SCHEDMATE_CHECK(!reading.step || *reading.step >= 0 || reading.by_place, "steps count up");
}

}  // namespace schedmate::fuzz
