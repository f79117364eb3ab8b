// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What one progress line says: counters, loss, times. Whose times they are follows from the lines
/// around (series.hpp).

#include <optional>
#include <schedmate/progress.hpp>
#include <string>
#include <vector>

#include "log/lines/clean.hpp"
#include "log/lines/numbers.hpp"
#include "log/progress/log_words.hpp"

namespace schedmate::progress {

enum class TimeMeaning : std::uint8_t {
  step,      ///< of one step, the line says
  open,      ///< some time
  interval,  ///< since the last report
  running,   ///< its word is that of a sum ("elapsed"), which it need not be
  elapsed,   ///< since the start of the run, the format says
};

struct TimeField {
  std::string key;
  double seconds = 0;
  TimeMeaning meaning = TimeMeaning::open;
  double covers = 0;             ///< steps that the line says it covers; 0: it does not say
  std::optional<double> mean{};  ///< since some start, in seconds: "Time 0.31 (0.33)"
  bool bare = false;             ///< no unit is printed; seconds are assumed
};

struct Reading {
  enum class Kind : std::uint8_t { nothing, training, held_out, closing, epoch };
  Kind kind = Kind::nothing;
  std::string step_key;  ///< "n/total" where a pair without a name counts
  std::optional<double> step, total_steps, epoch, total_epochs, loss;
  std::string loss_key;
  int loss_rank = 0;  ///< 0: by its name; 1: the only key with the word, or behind "loss at step"
  std::vector<TimeField> times;
  std::optional<double> bar_step_s;  ///< 1/rate of a bar or of a printed step rate
  std::optional<Throughput> throughput;
  std::optional<lines::Stamp> time;
  int rank = -1;
  std::optional<double> eta_s;    ///< what is left, of which the speed follows
  std::optional<double> left_s;   ///< what is left, as printed, whatever of
  std::optional<double> epoch_s;  ///< seconds of an epoch, as printed
  double held_out_s = 0;          ///< seconds of an evaluation, as printed
  bool by_place = false;          ///< a pattern gave it
  bool names_held_out = false;    ///< as a field of its own
  bool by_one = false;            ///< a counter without a name that goes up by one
  bool bar = false;
  bool drawn = false;     ///< a bar, whether it has a rate or not
  bool in_epoch = false;  ///< the counter restarts in each epoch
  const LogFormat* format = nullptr;
  std::vector<std::string> keys;  ///< of its numbers
};

[[nodiscard]] Reading read_line(const lines::PrefixedLine& line, const LogWords& words);

}  // namespace schedmate::progress
