// SPDX-License-Identifier: Apache-2.0
#include "advisor/estimates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::array rows{
#define ESTIMATE(name, summary) \
  EstimateRow{#name, summary, advisor::estimate_##name, advisor::answer_##name},
#include "advisor/estimates.def"
#undef ESTIMATE
};

std::optional<double> mean_figure(std::span<const PastRun> runs,
                                  std::optional<double> PastRun::* figure) {
  double sum = 0;
  double count = 0;
  for (const PastRun& run : runs) {
    if (!(run.*figure)) continue;
    sum += *(run.*figure);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace

std::span<const EstimateRow> estimate_rows() { return rows; }

Result<const EstimateRow*> find_estimate(std::string_view name) {
  const auto* const row = std::ranges::find(rows, name, &EstimateRow::name);
  if (row != rows.end()) return row;
  std::vector<std::string_view> names;
  for (const EstimateRow& each : rows) names.push_back(each.name);
  return fail(ErrorCode::not_found, unknown_name("estimate", name, names));
}

std::string_view name_of(AdviceSource source) {
  constexpr auto names =
      std::to_array<std::string_view>({"resubmission", "similar", "user_history", "none"});
  return names[static_cast<std::size_t>(source)];
}

bool advisor::ended_early(const PastRun& run) { return run.state != EndState::completed; }

void advisor::average_gpu_use(std::span<const PastRun> runs, Estimate& estimate) {
  estimate.gpu_util_pct = mean_figure(runs, &PastRun::gpu_util_pct);
  estimate.gpu_memory_mib = mean_figure(runs, &PastRun::gpu_memory_mib);
}

void advisor::keep_within(std::optional<Seconds> limit, Estimate& estimate) {
  estimate.p10 = std::min(estimate.p10, estimate.p50);
  estimate.p90 = std::max(estimate.p90, estimate.p50);
  if (!limit) return;
  const FractionalSeconds most = *limit;
  if (estimate.p90 > most) estimate.notes.emplace_back("capped at the time limit");
  for (FractionalSeconds* figure : {&estimate.mean, &estimate.p10, &estimate.p50, &estimate.p90})
    *figure = std::min(*figure, most);
}

double advisor::log_of(FractionalSeconds duration) {
  return std::log(std::max(1.0, duration.count()));
}

}  // namespace schedmate
