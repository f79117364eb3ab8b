// SPDX-License-Identifier: Apache-2.0
#include "advisor/run_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "advisor/completion_curve.hpp"
#include "advisor/estimates.hpp"

namespace schedmate::advisor {
namespace {

/// Up to this limit a person writes in such steps.
struct LimitStep {
  std::int64_t up_to_s, step_s;
};
constexpr std::int64_t minute_s = 60;
constexpr std::int64_t hour_s = 60 * minute_s;
constexpr std::int64_t day_s = 24 * hour_s;
constexpr auto limit_steps = std::to_array<LimitStep>({
    {10 * minute_s, minute_s},
    {hour_s, 5 * minute_s},
    {6 * hour_s, 15 * minute_s},
    {day_s, hour_s},
    {7 * day_s, 6 * hour_s},
    {INT64_MAX, day_s},
});

std::string_view state_in_words(EndState state) {
  switch (state) {
    case EndState::completed:
      return "completed";
    case EndState::failed:
      return "failed";
    case EndState::out_of_memory:
      return "out of memory";
    case EndState::cancelled:
      return "cancelled";
    case EndState::timeout:
      return "killed by the limit";
    case EndState::node_fail:
      return "lost with the node";
    case EndState::preempted:
      return "preempted";
    case EndState::requeued:
      return "requeued";
    case EndState::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

std::optional<LengthMiss> miss_of(const GivenCentre& given, EndState state, Seconds duration) {
  const RunEnd end = run_end(state);
  if (given.source == AdviceSource::none || end == RunEnd::own_end) return std::nullopt;
  return LengthMiss{.log_ratio = log_of(duration) - given.log_centre,
                    .at_least = end == RunEnd::stopped,
                    .source = given.source,
                    .log_centre = given.log_centre};
}

Seconds written_limit(FractionalSeconds at_least) {
  constexpr double longest_s = 36500.0 * day_s;  // a hundred years are no limit
  const auto needed =
      static_cast<std::int64_t>(std::ceil(std::clamp(at_least.count(), 1.0, longest_s)));
  const auto* const step = std::ranges::lower_bound(limit_steps, needed, {}, &LimitStep::up_to_s);
  return Seconds((needed + step->step_s - 1) / step->step_s * step->step_s);
}

std::string slurm_time(Seconds limit) {
  const std::int64_t all_s = limit.count();
  const std::string days = all_s >= day_s ? fmt::format("{}-", all_s / day_s) : "";
  return fmt::format("{}{:0{}}:{:02}:{:02}", days, all_s % day_s / hour_s, days.empty() ? 1 : 2,
                     all_s % hour_s / minute_s, all_s % minute_s);
}

std::string limit_in_words(const TimeLimit& limit) {
  return fmt::format("--time={} ({}risk to be killed by it: {}{:.2g} %)",
                     slurm_time(limit.suggested), limit.longest ? "the longest allowed; " : "",
                     limit.longest ? "" : "at most ", 100 * limit.risk);
}

std::map<EndState, std::size_t> count_by_state(std::span<const PastRun> runs) {
  std::map<EndState, std::size_t> counts;
  for (const PastRun& run : runs) ++counts[run.state];
  return counts;
}

std::string runs_in_words(const std::map<EndState, std::size_t>& runs) {
  std::string text;
  for (const EndState state : known_end_states) {
    const auto found = runs.find(state);
    if (found == runs.end()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", found->second, state_in_words(state));
    if (run_end(state) == RunEnd::stopped) text += " (counted as at least that long)";
  }
  return text;
}

std::vector<std::string> would_help(const RunAnswer& answer) {
  std::vector<std::string> help;
  if (answer.known()) return help;
  if (answer.runs_by_state.contains(EndState::timeout))
    help.emplace_back(
        "a run with a longer limit: what its limit kills does not show how long it is");
  if (answer.source != AdviceSource::resubmission)
    help.emplace_back(
        "earlier runs of this job: `advise --record --job-id ID`, then `history finish ID`; or "
        "`history import` of the accounting");
  else if (answer.runs_by_state.contains(EndState::completed) && help.empty())
    help.emplace_back(
        "what tells these runs apart on their command line, such as epochs or a config file");
  return help;
}

}  // namespace schedmate::advisor

namespace schedmate {

AdviceSource source_of(const Advice& advice) {
  return advice.answer.source == AdviceSource::none ? advice.estimate.source : advice.answer.source;
}

std::string why_not_known(const RunAnswer& answer) {
  return answer.not_known.empty() ? "no past job to go by" : answer.not_known;
}

}  // namespace schedmate
