// SPDX-License-Identifier: Apache-2.0
#include "screen/progress_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/words.hpp"

namespace schedmate::screen {
namespace {

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "unknown";
}

std::string of(const std::optional<double>& value, const std::optional<double>& total) {
  return total ? fmt::format("{} of {}", shown(value), shown(total)) : shown(value);
}

}  // namespace

std::string progress_text(const Progress& progress) {
  std::string text = fmt::format(
      "step       {}\nepoch      {}\nstep time  {}{}\nloss       {}\n",
      of(progress.step, progress.total_steps), of(progress.epoch, progress.total_epochs),
      shown(progress.step_time_s), progress.step_time_s ? " s" : "", shown(progress.loss));
  if (progress.throughput)
    text += fmt::format("throughput {:.6g} {}\n", progress.throughput->value,
                        progress.throughput->unit);
  text += progress.remaining_s ? fmt::format("remaining  {} ({})\n",
                                             in_words(FractionalSeconds(*progress.remaining_s)),
                                             progress.remaining_by)
                               : "remaining  unknown\n";
  if (!progress.by.empty()) text += fmt::format("by         {}\n", progress.by);
  if (!progress.by_model.empty())
    text += fmt::format("by model   {}\n", fmt::join(progress.by_model, " "));
  for (const auto& line : progress.evidence) text += fmt::format("line       {}\n", line);
  return text;
}

}  // namespace schedmate::screen
