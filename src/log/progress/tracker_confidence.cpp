// SPDX-License-Identifier: Apache-2.0

/// How likely the values of a log are right: what speaks for them and against. The weights are
/// rules/progress_confidence.toml, fitted by scripts/log_confidence.py on what bench/log_study.cpp
/// prints.

#include <algorithm>
#include <cmath>

#include "log/progress/tracker.hpp"

namespace schedmate::embedded {
extern const std::string_view progress_confidence_toml;
}  // namespace schedmate::embedded

namespace schedmate {
namespace {

const Confidence& progress_confidence() {
  static const Confidence table = built_in_confidence(embedded::progress_confidence_toml);
  return table;
}

double log_of(std::uint64_t count) { return std::log1p(static_cast<double>(count)); }

/// How far two values of one quantity are apart, as a factor.
double apart(double a, double b) {
  constexpr double most = 3;
  return a > 0 && b > 0 ? std::min(std::abs(std::log(a / b)), most) : most;
}

/// The share of steps between reports that are the usual number of steps.
double evenness(const std::deque<progress::StepSample>& samples) {
  std::map<double, std::size_t> gaps;
  std::size_t most = 0;
  for (std::size_t i = 1; i < samples.size(); ++i)
    most = std::max(most, ++gaps[samples[i].step - samples[i - 1].step]);
  return samples.size() < 2 ? 0
                            : static_cast<double>(most) / static_cast<double>(samples.size() - 1);
}

/// "tqdm, printed rate" -> "printed rate"; "time: of one step" -> "of one step".
std::string reading_of(std::string_view by) {
  for (const std::string_view mark : {", ", ": "})
    if (const auto at = by.rfind(mark); at != std::string_view::npos)
      by.remove_prefix(at + mark.size());
  return std::string(by);
}

}  // namespace

std::map<std::string, Features> progress::ProgressTracker::grounds_of(
    const Progress& progress) const {
  const Counter* main = main_counter();
  Features all{{"lines", log_of(progress.lines)}, {"counters", log_of(counters_.size())}};
  all["no counter"] = main == nullptr ? 1 : 0;
  if (main != nullptr) {
    std::size_t rival = 0;
    for (const auto& [key, counter] : counters_)
      if (&counter != main) rival = std::max(rival, counter.samples.size());
    const Reading& last = main->last;
    const auto own = static_cast<double>(main->samples.size());
    all["samples"] = std::log1p(own);
    all["rival counter"] = static_cast<double>(rival) / (own + static_cast<double>(rival));
    all["even"] = evenness(main->samples);
    all["known format"] = last.format != nullptr ? 1 : 0;
    all["bar"] = last.bar ? 1 : 0;
    all["by place"] = last.by_place || last.by_one ? 1 : 0;
    all["in epoch"] = main->in_epoch || last.epoch ? 1 : 0;
    all["total"] = last.total_steps ? 1 : 0;
  }
  std::map<std::string, Features> made;
  if (progress.step) made["step"] = all;
  if (progress.total_steps) made["total_steps"] = all;
  if (progress.loss) {
    Features& loss = made["loss"] = all;
    loss["with counter"] = main != nullptr && main->has_loss ? 1 : 0;
    loss["loose"] = loose_loss_key_.empty() ? 0 : 1;
    if (main != nullptr) {
      loss["not by its name"] = main->last.loss_rank;
      const auto& keys = main->last.keys;
      loss["losses"] = log_of(static_cast<std::uint64_t>(std::ranges::count_if(
          keys, [](const std::string& key) { return key.contains("loss"); })));
    }
  }
  if (progress.step_time_s) {
    Features& time = made["step_time_s"] = all;
    time["by:" + reading_of(progress.by)] = 1;
    time["recent"] = progress.recent_step_time_s
                         ? apart(*progress.recent_step_time_s, *progress.step_time_s)
                         : 0;
    const auto clock = main != nullptr ? step_by_stamps(main->samples) : std::nullopt;
    time["clock"] = clock ? 1 : 0;
    time["against clock"] = clock ? apart(*clock, *progress.step_time_s) : 0;
  }
  return made;
}

std::map<std::string, Features> progress::ProgressTracker::grounds() const {
  ProgressTracker whole(*this);
  whole.flush();
  return whole.grounds_of(whole.of_reports());
}

void progress::ProgressTracker::weigh(Progress& progress) const {
  for (const auto& [field, features] : grounds_of(progress))
    progress.confidence[field] = progress_confidence().probability(field, features);
}

double careful_progress_confidence() { return progress_confidence().careful; }

void cut_below(double least, Progress& progress) {
  const auto cut = [&](const char* field, std::optional<double>& value) {
    const auto known = progress.confidence.find(field);
    const bool unsure = value && known != progress.confidence.end() && known->second < least;
    if (unsure) value.reset();
    return unsure;
  };
  const bool step = cut("step", progress.step);
  const bool total = cut("total_steps", progress.total_steps);
  const bool time = cut("step_time_s", progress.step_time_s);
  cut("loss", progress.loss);
  if (time) progress.recent_step_time_s.reset();
  if (!step && !total && !time) return;
  progress.remaining_s.reset();
  progress.remaining_by.clear();
}

}  // namespace schedmate
