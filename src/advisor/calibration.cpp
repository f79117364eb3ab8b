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
}

/// From sums to means.
void finish(Calibration& row) {
  const auto jobs = static_cast<double>(std::max<std::size_t>(1, row.jobs));
  row.inside_share /= jobs;
  row.within_100_share /= jobs;
  row.bias = std::exp(row.bias / jobs);
}

}  // namespace

std::optional<AdviceScore> score_advice(const JobRecord& record) {
  const auto residual = residual_of(record);
  if (!residual) return std::nullopt;
  const GivenAdvice& advice = *record.advice;
  const FractionalSeconds took = std::max(Seconds(1), record.outcome->duration);
  AdviceScore score;
  score.inside = advice.p10 <= took && took <= advice.p90;
  score.within_100 = std::abs((advice.p50 - took).count()) <= took.count();
  score.log_ratio = -residual->log_ratio;
  return score;
}

Result<std::vector<Calibration>> calibrate(Store& store) {
  std::map<std::string, Calibration> users;
  Calibration all{"", 0, 0, 0, 0};
  JobFilter filter;
  filter.finished = true;
  filter.brief = true;
  filter.limit = std::numeric_limits<std::size_t>::max();
  const auto done = store.each(filter, [&](const JobRecord& record) {
    const auto score = score_advice(record);
    if (!score) return true;
    add(*score, all);
    const auto at = users.try_emplace(record.user, Calibration{record.user, 0, 0, 0, 0}).first;
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
