// SPDX-License-Identifier: Apache-2.0
#include "study/cost_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace schedmate::study {
namespace {

constexpr std::string_view failure_rate = "cost.failure_gpu_hours";
/// Restart delays count where a pair does not fit in memory, too.
constexpr std::array of_failures_alone{
    "cost.framework_pct",      "cost.script_pct",        "cost.checkpoint_s", "cost.detection_s",
    "cost.handler_missed_pct", "cost.handler_false_pct", "cost.bad_node_pct"};
/// Of one job: a replay keeps each, and a schedule of so many says nothing any more.
constexpr double most_attempts = 1e5;

/// Failures of a Poisson process until each piece of work between checkpoints has come through.
double expected_attempts(const Job& job, double gpu_hours, double checkpoint_s) {
  const double failures_a_s = job.gpus / (gpu_hours * 3600);
  const auto work_s = static_cast<double>(job.duration.count());
  const auto failures_in = [&](double piece_s) {
    constexpr double most = 200;  // of its logarithm
    return std::expm1(std::min(failures_a_s * piece_s, most));
  };
  const double whole = std::floor(work_s / checkpoint_s);
  return 1 + whole * failures_in(checkpoint_s) + failures_in(work_s - whole * checkpoint_s);
}

Result<void> check_shares(const settings::Settings& settings) {
  const std::int64_t by_jobs =
      settings.whole("cost.framework_pct") + settings.whole("cost.script_pct");
  if (by_jobs <= 100) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("cost.framework_pct and cost.script_pct are shares of the same failures, "
                          "but add up to {} %; lower one of them",
                          by_jobs));
}

Result<void> check_attempts(const settings::Settings& settings, const Trace& trace) {
  const auto gpu_hours = static_cast<double>(settings.whole(failure_rate));
  if (gpu_hours <= 0 || trace.jobs.empty()) return {};
  const auto checkpoint_s = std::max(1.0, static_cast<double>(settings.whole("cost.checkpoint_s")));
  const auto attempts = [&](const Job& job) {
    return expected_attempts(job, gpu_hours, checkpoint_s);
  };
  const auto worst = std::ranges::max_element(trace.jobs, {}, attempts);
  if (attempts(*worst) <= most_attempts) return {};
  return fail(
      ErrorCode::unsupported,
      fmt::format("{}={}: job {} on {} GPUs would need about {:.1g} attempts to get from one "
                  "checkpoint to the next; raise it, or lower cost.checkpoint_s ({} s)",
                  failure_rate, gpu_hours, worst->id, worst->gpus, attempts(*worst), checkpoint_s));
}

}  // namespace

Result<void> check_costs(const settings::Settings& settings, const Trace& trace) {
  if (auto ok = check_shares(settings); !ok) return ok;
  return check_attempts(settings, trace);
}

std::vector<std::string> idle_costs(const settings::Settings& settings) {
  std::vector<std::string> idle;
  if (settings.whole(failure_rate) > 0) return idle;
  for (const settings::SettingRow& row : settings::setting_rows()) {
    const bool idles = std::ranges::find(of_failures_alone, row.key) != of_failures_alone.end();
    if (idles && settings.text(row.key) != row.fallback)
      idle.push_back(fmt::format("{}={} changes nothing: no job fails while {} is 0", row.key,
                                 settings.text(row.key), failure_rate));
  }
  return idle;
}

}  // namespace schedmate::study
