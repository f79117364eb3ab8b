// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the keys of progress lines mean: rules/log_formats.toml, and an operator's file of the same
/// name (docs/formats/logs.md).

#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "log/progress/line_pattern.hpp"

namespace schedmate::progress {

struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const {
    return std::hash<std::string_view>{}(word);
  }
};
using WordSet = std::unordered_set<std::string, WordHash, std::equal_to<>>;

/// Exact knowledge of one framework's lines. An empty name leaves that part to the words; a row
/// without keys and pattern only names a framework whose lines the words read.
struct LogFormat {
  std::string name;
  std::vector<std::string> keys;      ///< plain ones; all of them are in the line
  std::vector<LinePattern> patterns;  ///< instead of keys: a line that one of them fits
  std::string step, time, loss;       ///< plain keys
  bool elapsed = false;               ///< `time` counts from the start of the run
  double time_unit_s = 0;             ///< of `time` where none is printed; 0: seconds
  bool training = true;               ///< false: its lines say nothing about the training
  std::vector<std::string> lines;     ///< as it prints them, for the tests
  std::optional<double> reads_step, reads_total, reads_time_s, reads_loss, reads_epoch,
      reads_epochs;

  [[nodiscard]] bool matches() const { return !keys.empty() || !patterns.empty(); }
};

struct LogWords {
  WordSet step, not_step, epoch, step_time, time, running, part, rate, throughput, held_out, busy,
      other;
  std::vector<std::string> loss;  ///< best first
  std::vector<LogFormat> formats;

  /// Errors: invalid (file, line, what is wrong).
  static Result<LogWords> load(const std::string& folder = "");
  /// Of one table alone.
  static Result<LogWords> parse(std::string_view text);
  static const LogWords& built_in();
};

/// Lower case, with `_`, `-`, `/` and `.` as single spaces.
[[nodiscard]] std::string plain_key(std::string_view key);

}  // namespace schedmate::progress
