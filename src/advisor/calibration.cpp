// SPDX-License-Identifier: Apache-2.0
#include "advisor/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "advisor/estimates.hpp"
#include "advisor/stored_jobs.hpp"

namespace schedmate::advisor {
namespace {

void add(const AdviceScore& score, Calibration& row) {
  ++row.jobs;
  row.inside_share += score.inside ? 1 : 0;
  row.within_100_share += score.within_100 ? 1 : 0;
  row.bias += score.log_ratio;
  if (!score.over_limit) return;
  ++row.limits;
  row.over_limit_share += *score.over_limit ? 1 : 0;
}

/// From sums to means.
void finish(Calibration& row) {
  const auto jobs = static_cast<double>(std::max<std::size_t>(1, row.jobs));
  row.inside_share /= jobs;
  row.within_100_share /= jobs;
  row.bias = std::exp(row.bias / jobs);
  row.over_limit_share /= static_cast<double>(std::max<std::size_t>(1, row.limits));
}

AdviceScore score_of(const GivenLength& given, FractionalSeconds took) {
  AdviceScore score{.p10 = given.p10, .p50 = given.p50, .p90 = given.p90};
  score.inside = given.p10 <= took && took <= given.p90;
  score.within_100 = std::abs((given.p50 - took).count()) <= took.count();
  score.log_ratio = log_of(given.p50) - log_of(took);
  if (given.limit > Seconds(0)) score.over_limit = took > given.limit;
  return score;
}

}  // namespace

std::optional<AdviceScore> score_advice(const JobRecord& record) {
  if (!has_run(record) || !record.advice) return std::nullopt;
  const GivenAdvice& advice = *record.advice;
  const FractionalSeconds took = std::max(Seconds(1), record.outcome->duration);
  if (advice.length) {
    // A completed run shows how good the told length was; any other says nothing of it.
    if (!advice.length->told || record.outcome->state != EndState::completed) return std::nullopt;
    return score_of(*advice.length, took);
  }
  if (!residual_of(record)) return std::nullopt;
  // Of versions whose advice was of any end.
  return score_of(
      {.source = advice.source, .p10 = advice.p10, .p50 = advice.p50, .p90 = advice.p90}, took);
}

Result<std::vector<Calibration>> calibrate(Store& store) {
  std::map<std::string, Calibration> users;
  Calibration all;
  JobFilter filter;
  filter.finished = true;
  filter.brief = true;
  filter.limit = std::numeric_limits<std::size_t>::max();
  const auto done = store.each(filter, [&](const JobRecord& record) {
    const auto score = score_advice(record);
    if (!score) return true;
    add(*score, all);
    const auto at = users.try_emplace(record.user, Calibration{.who = record.user}).first;
    add(*score, at->second);
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  std::vector<Calibration> rows{all};
  for (auto& [name, row] : users) rows.push_back(std::move(row));
  std::ranges::for_each(rows, finish);
  std::stable_sort(rows.begin() + 1, rows.end(),
                   [](const Calibration& a, const Calibration& b) { return a.jobs > b.jobs; });
  return rows;
}

}  // namespace schedmate::advisor
