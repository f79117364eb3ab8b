// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far a running job is, read from its log alone (paper 3.2, Metric Tracker; design 4.2).
///
/// Unknown is an empty optional, never a guess.

#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate {

struct Throughput {
  double value = 0;
  std::string unit;  ///< as printed: "samples/s", "tok/s"
};

struct Progress {
  /// Of the last training progress line, as printed.
  std::optional<double> step, total_steps, epoch, total_epochs, loss;
  /// Median over the last progress lines, without the warm-up of the run.
  std::optional<double> step_time_s;
  std::optional<Throughput> throughput;
  std::optional<double> remaining_s;
  std::uint64_t lines = 0;            ///< training progress lines that were used
  std::vector<std::string> evidence;  ///< the last of them, cleaned
  std::string by;  ///< how step_time_s follows: the format's name and the kind of reading
};

/// Reads the end of a file back until enough progress lines are found (paper 3.2). Errors: those of
/// opening and reading the file.
[[nodiscard]] Result<Progress> track(const std::string& path);

[[nodiscard]] std::string progress_json(const Progress& progress);

}  // namespace schedmate
