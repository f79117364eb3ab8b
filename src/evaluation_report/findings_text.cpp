// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/findings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace schedmate::evaluation_report {
namespace {

constexpr std::string_view nothing_here =
    "This experiment has no controls, so nothing in it is evidence for reading code.";
constexpr std::string_view construction = "Construction, because the metadata is made up";

/// "a, b and c".
std::string listed(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Experiments by name, each with those of its traces that are meant.
class TraceSelection {
 public:
  void add(const study::ExperimentFile& experiment, const std::string& trace) {
    if (names_.empty() || names_.back().experiment != &experiment)
      names_.push_back({&experiment, {}});
    names_.back().traces.push_back(trace);
  }
  [[nodiscard]] bool empty() const { return names_.empty(); }
  /// A trace that is the only one of its experiment is not named.
  [[nodiscard]] std::string text() const {
    std::vector<std::string> parts;
    for (const auto& [experiment, traces] : names_)
      parts.push_back(experiment->traces.size() == 1
                          ? experiment->name
                          : fmt::format("{} ({})", experiment->name, fmt::join(traces, ", ")));
    return listed(parts);
  }

 private:
  struct Named {
    const study::ExperimentFile* experiment;
    std::vector<std::string> traces;
  };
  std::vector<Named> names_;
};

const study::Interval* interval_in(const ArmRows& arm, std::string_view figure) {
  const FigureLine* row = arm.find(figure);
  return row == nullptr ? nullptr : &row->row.interval;
}

/// Its whole interval is below 0, in which arms are better.
bool is_better(const study::Interval& interval) {
  return (std::isnan(interval.high) ? interval.value : interval.high) < 0;
}

/// How much of what the Advisor sees is wrong.
bool is_swept_by_error(const study::ExperimentFile& experiment) {
  return experiment.sweep == "workload_noise_pct" || experiment.sweep == "workload_errors_pct";
}

/// From where least is wrong to where most is: not shown to shrink, shown to grow.
enum class TrendOverErrors : std::uint8_t { shrinks, stays, grows };

TrendOverErrors by_errors(const std::vector<ArmRows>& arms) {
  std::vector<const study::Interval*> ratios;
  for (const ArmRows& arm : arms)
    if (const study::Interval* ratio = interval_in(arm, "ln_ratio");
        ratio && arm.first->arm == "sm")
      ratios.push_back(ratio);
  if (ratios.size() < 2 || !is_better(*ratios.back()) || ratios.back()->low > ratios.front()->high)
    return TrendOverErrors::shrinks;
  return ratios.back()->high < ratios.front()->low ? TrendOverErrors::grows
                                                   : TrendOverErrors::stays;
}

}  // namespace

std::string construction_note(const std::set<std::string_view>& columns) {
  std::vector<std::string> over;
  for (const std::string_view figure : {"over_last_k", "over_own", "over_all"})
    if (columns.contains(figure)) over.emplace_back(column_of(figure).title);
  if (over.empty()) return fmt::format("{}. {}", construction, nothing_here);
  return fmt::format("{}; the only evidence for reading code: {}.", construction, listed(over));
}

std::string leaks_note() {
  return "What the Advisor reads predicts durations by construction (workload_cut), so no figure "
         "here is evidence for reading code.";
}

std::string elastic_note(const study::ExperimentFile& experiment) {
  const auto has = [&](std::string_view label) {
    return std::ranges::find(experiment.arms, label, &study::ExperimentArm::label) !=
           experiment.arms.end();
  };
  std::vector<std::string> controls;
  for (const char* label : {"wrong", "shuffled"})
    if (has("sm") && has(label)) controls.emplace_back(label);
  if (controls.empty()) return fmt::format("{}. {}", construction, nothing_here);
  return fmt::format("{}; the gain of sm over {} is what reading code adds.", construction,
                     listed(controls));
}

std::vector<std::string> not_from_reading(const std::vector<Chapter>& chapters) {
  TraceSelection gains;
  TraceSelection none;
  TraceSelection outlasting;
  TraceSelection growing;
  for (const Chapter& chapter : chapters) {
    for (const study::ExperimentTrace& trace : chapter.experiment.traces) {
      const auto arms = arms_of(chapter, trace.name);
      const auto sm = std::ranges::find_if(arms, [](const ArmRows& arm) {
        const study::Interval* over = interval_in(arm, "over_all");
        return arm.first->arm == "sm" && over != nullptr && !is_better(*over);
      });
      const study::Interval* ratio = sm == arms.end() ? nullptr : interval_in(*sm, "ln_ratio");
      if (ratio != nullptr) (is_better(*ratio) ? gains : none).add(chapter.experiment, trace.name);
      if (!is_swept_by_error(chapter.experiment)) continue;
      const TrendOverErrors found = by_errors(arms);
      if (found == TrendOverErrors::grows) growing.add(chapter.experiment, trace.name);
      if (found == TrendOverErrors::stays) outlasting.add(chapter.experiment, trace.name);
    }
  }
  std::vector<std::string> lines;
  if (!gains.empty())
    lines.push_back(
        fmt::format("sm is faster than its host but not faster than the control over all (95 %) in "
                    "{}; there its gain is not shown to come from reading.",
                    gains.text()));
  if (!outlasting.empty())
    lines.push_back(
        fmt::format("The gain of sm is also not shown to come from reading where it does not "
                    "shrink (95 %) from the fewest wrong facts to the most: {}.",
                    outlasting.text()));
  if (!growing.empty())
    lines.push_back(
        fmt::format("A gain that grows (95 %) with the number of wrong facts speaks even more "
                    "against reading: {}.",
                    growing.text()));
  if (!none.empty())
    lines.push_back(
        fmt::format("sm is faster than neither its host nor the control in {}.", none.text()));
  return lines;
}

}  // namespace schedmate::evaluation_report
