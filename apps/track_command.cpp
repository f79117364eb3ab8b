// SPDX-License-Identifier: Apache-2.0
#include "apps/track_command.hpp"

#include <fmt/format.h>

#include <schedmate/progress.hpp>

#include "tree/redact.hpp"

namespace schedmate {
namespace {

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "unknown";
}

std::string of(const std::optional<double>& value, const std::optional<double>& total) {
  return total ? fmt::format("{} of {}", shown(value), shown(total)) : shown(value);
}

std::string progress_text(const Progress& progress) {
  std::string text = fmt::format(
      "step       {}\nepoch      {}\nstep time  {}{}\nloss       {}\n",
      of(progress.step, progress.total_steps), of(progress.epoch, progress.total_epochs),
      shown(progress.step_time_s), progress.step_time_s ? " s" : "", shown(progress.loss));
  if (progress.throughput)
    text += fmt::format("throughput {:.6g} {}\n", progress.throughput->value,
                        progress.throughput->unit);
  text += fmt::format("remaining  {}{}\n", shown(progress.remaining_s),
                      progress.remaining_s ? " s" : "");
  if (!progress.by.empty()) text += fmt::format("by         {}\n", progress.by);
  for (const auto& line : progress.evidence) text += fmt::format("line       {}\n", line);
  return text;
}

}  // namespace

Result<void> track_command(const Session& session, const TrackRequest& request) {
  auto progress = track(request.log);
  if (!progress) return tl::unexpected(progress.error());
  for (auto& line : progress->evidence) line = redact(line);
  fmt::print("{}\n", session.json ? progress_json(*progress) : progress_text(*progress));
  return {};
}

}  // namespace schedmate
