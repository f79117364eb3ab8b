// SPDX-License-Identifier: Apache-2.0
#include "advisor/completion_curve.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"

namespace schedmate::advisor {
namespace {

constexpr double rounding = 1e-9;

}  // namespace

RunEnd run_end(EndState state) {
  switch (state) {
    case EndState::completed:
      return RunEnd::completed;
    case EndState::failed:
    case EndState::out_of_memory:
    case EndState::cancelled:
      return RunEnd::own_end;
    case EndState::timeout:
    case EndState::node_fail:
    case EndState::preempted:
    case EndState::requeued:
    case EndState::unknown:
      break;
  }
  return RunEnd::stopped;
}

CompletionCurve::CompletionCurve(std::vector<EndedRun> runs) {
  std::erase_if(runs, [](const EndedRun& run) { return !(run.weight > 0); });
  // Of equal values a stopped run comes last: it was still running when the others ended.
  std::ranges::sort(runs, {}, [](const EndedRun& run) { return std::pair(run.value, run.end); });
  double at_risk = 0;
  for (const EndedRun& run : runs) at_risk += run.weight;
  open_ = runs.empty() ? 0 : 1;
  last_ = runs.empty() ? 0 : runs.back().value;
  double total = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const EndedRun& run = runs[i];
    const bool last_end = i + 1 == runs.size();
    if (run.end != RunEnd::stopped) {
      const double share = open_ * (last_end ? 1 : std::min(1.0, run.weight / at_risk));
      open_ -= share;
      if (run.end == RunEnd::own_end) early_ += share;
      if (run.end == RunEnd::completed) steps_.push_back({run.value, total += share});
    }
    at_risk -= run.weight;
  }
  if (open_ < rounding) open_ = 0;
}

double CompletionCurve::completed() const { return steps_.empty() ? 0 : steps_.back().below; }

bool CompletionCurve::has_lengths() const { return lengths() > rounding; }

double CompletionCurve::quantile(double share) const {
  SCHEDMATE_CHECK(has_lengths(), "a quantile needs a run that completed or was stopped");
  const double wanted = share * lengths() * (1 - rounding);
  const auto at = std::ranges::lower_bound(steps_, wanted, {}, &Step::below);
  return at == steps_.end() ? last_ : at->value;
}

bool CompletionCurve::is_open_at(double share) const {
  return completed() < share * lengths() * (1 - rounding);
}

double CompletionCurve::at_most(double value) const {
  const auto above = std::ranges::upper_bound(steps_, value, {}, &Step::value);
  return above == steps_.begin() ? 0 : std::prev(above)->below / lengths();
}

double CompletionCurve::mean(const std::function<double(double)>& figure) const {
  double sum = open_ > 0 ? open_ * figure(last_) : 0;
  double before = 0;
  for (const Step& step : steps_) {
    sum += (step.below - before) * figure(step.value);
    before = step.below;
  }
  return sum / lengths();
}

}  // namespace schedmate::advisor
