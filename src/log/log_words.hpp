// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the keys of progress lines mean: rules/log_formats.toml, and an operator's file of the same
/// name (docs/formats/logs.md).

#include <optional>
#include <schedmate/result.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

using WordSet = std::set<std::string, std::less<>>;

/// Exact knowledge of one framework's line. An empty name leaves that part to the words.
struct LogFormat {
  std::string name;
  std::vector<std::string> keys;  ///< all of them are in the line
  std::string step, time, loss;
  std::vector<std::string> lines;  ///< as it prints them, for the tests
  std::optional<double> reads_step, reads_total, reads_time_s, reads_loss, reads_epoch;
};

struct LogWords {
  WordSet step, not_step, epoch, step_time, time, part, rate, throughput, held_out, busy;
  std::vector<std::string> loss;  ///< best first
  std::vector<LogFormat> formats;

  /// Errors: invalid (file, line, what is wrong).
  static Result<LogWords> load(const std::string& folder = "");
  static const LogWords& built_in();
};

/// Lower case, with `_`, `-`, `/` and `.` as single spaces.
[[nodiscard]] std::string plain_key(std::string_view key);

}  // namespace schedmate
