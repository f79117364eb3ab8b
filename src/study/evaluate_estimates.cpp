// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate_estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <schedmate/sim.hpp>

#include "study/trace_workload.hpp"

namespace schedmate::study {
namespace {

/// First predictions by row. Each row belongs to one VC, so threads never share an entry.
using Predictions = std::vector<std::optional<Prediction>>;

EstimateErrors errors_of(const ErrorInput& input, const Predictions& predictions) {
  EstimateErrors errors;
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const Job& job = input.trace.jobs[row];
    if (!predictions[row] || job.submit < input.counted_from) continue;
    ++errors.jobs;
    const double truth = std::max(1.0, static_cast<double>(job.duration.count()));
    if (predictions[row]->blind) continue;
    errors.run_time.push_back(std::abs(predictions[row]->run_time.count() - truth) / truth);
    if (!predictions[row]->use || job.profile == no_index) continue;
    const double util = input.trace.packing->profiles[job.profile].gpu_util_pct;
    if (util > 0)
      errors.gpu_util.push_back(std::abs(predictions[row]->use->gpu_util_pct - util) / util);
  }
  std::ranges::sort(errors.run_time);
  std::ranges::sort(errors.gpu_util);
  return errors;
}

double mean_error(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// A job without an estimate is not within anything.
double within(const std::vector<double>& sorted, double most, std::size_t jobs) {
  return static_cast<double>(std::ranges::upper_bound(sorted, most) - sorted.begin()) /
         static_cast<double>(jobs);
}

}  // namespace

Result<EstimateErrors> estimate_errors(const ErrorInput& input, const std::string& estimator) {
  std::optional<ScopedProfiles> profiles;
  if (input.workload != nullptr) profiles.emplace(input.trace, input.workload->workload);
  const auto scheduler = make_scheduler("fifo", {input.cluster, {}, input.seed}, {});
  if (!scheduler) return tl::unexpected(scheduler.error());
  auto inner = make_estimator(estimator, estimator_input(input.trace, input.seed, input.workload));
  if (!inner) return tl::unexpected(inner.error());
  Predictions predictions(input.trace.jobs.size());
  SimOptions options;
  options.estimator =
      watched(std::move(*inner), [&](const EnteringJob& at, const Prediction& prediction) {
        if (!predictions[at.job.number]) predictions[at.job.number] = prediction;
      });
  options.seed = input.seed;
  const auto result = simulate(input.trace, input.cluster, *scheduler, options);
  if (!result) return tl::unexpected(result.error());
  return errors_of(input, predictions);
}

std::vector<FigureRow> estimate_rows(const FigureRow& base,
                                     std::span<const EstimateErrors> perturbations) {
  std::vector<FigureRow> rows;
  const auto add = [&](std::string figure, const auto& value_of) {
    std::vector<double> values;
    for (const EstimateErrors& each : perturbations) values.push_back(value_of(each));
    rows.push_back(base);
    rows.back().figure = std::move(figure);
    rows.back().interval = mean_interval(values);
  };
  for (const int percent : {10, 20, 50, 100, 200, 500})
    add(fmt::format("within_{}", percent), [&](const EstimateErrors& each) {
      return within(each.run_time, percent / 100.0, each.jobs);
    });
  for (const int percent : {5, 10, 20, 50, 100})
    add(fmt::format("use_within_{}", percent), [&](const EstimateErrors& each) {
      return within(each.gpu_util, percent / 100.0, each.jobs);
    });
  add("median_error", [](const EstimateErrors& each) { return quantile(each.run_time, 0.5); });
  const auto share = [](const std::vector<double>& part, const EstimateErrors& each) {
    return static_cast<double>(part.size()) / static_cast<double>(each.jobs);
  };
  add("given", [&](const EstimateErrors& each) { return share(each.run_time, each); });
  add("use_given", [&](const EstimateErrors& each) { return share(each.gpu_util, each); });
  if (std::ranges::none_of(perturbations, [](const auto& each) { return each.gpu_util.empty(); }))
    add("use_error", [](const EstimateErrors& each) { return mean_error(each.gpu_util); });
  return rows;
}

}  // namespace schedmate::study
