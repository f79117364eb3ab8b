// SPDX-License-Identifier: Apache-2.0
#include "report/chart_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/text_safety.hpp"

namespace schedmate::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t time_points = 300;

// Four significant digits: more than a pixel, less than half the bytes.
double rounded(double value) {
  return parse_number<double>(fmt::format("{:.4g}", value)).value_or(value);
}

// The part of the grid where something happens in any of the curves.
Json cdf_figure(std::span<const RunSummary> runs, RunSummary::Cdf RunSummary::* cdf) {
  std::size_t first = RunSummary::cdf_points - 1;
  std::size_t last = 1;
  for (const RunSummary& run : runs) {
    const RunSummary::Cdf& share = run.*cdf;
    for (std::size_t k = 0; k < share.size(); ++k) {
      if (share[k] > 0) first = std::min(first, k);
      if (share[k] < share.back()) last = std::max(last, std::min(k + 1, share.size() - 1));
    }
  }
  first = std::min(first > 0 ? first - 1 : 0, last - 1);  // start the curves at zero
  Json x = Json::array();
  for (std::size_t k = first; k <= last; ++k) x.push_back(rounded(cdf_grid(k)));
  Json y = Json::array();
  for (const RunSummary& run : runs) {
    Json curve = Json::array();
    for (std::size_t k = first; k <= last; ++k) curve.push_back(rounded((run.*cdf)[k]));
    y.push_back(std::move(curve));
  }
  return {{"x", std::move(x)}, {"y", std::move(y)}};
}

// Bins that make one point, so that the longest timeline has at most time_points.
std::size_t bins_per_point(std::span<const RunSummary> runs) {
  std::size_t longest = 1;
  for (const RunSummary& run : runs) longest = std::max(longest, run.timeline.bins.size());
  return (longest + time_points - 1) / time_points;
}

template <class Value>
Json time_curve(const Timeline& timeline, std::size_t bins, Value value) {
  Json curve = Json::array();
  for (std::size_t from = 0; from < timeline.bins.size(); from += bins) {
    const std::size_t to = std::min(from + bins, timeline.bins.size());
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += value(timeline.bins[i]);
    curve.push_back(rounded(sum / static_cast<double>(to - from)));
  }
  return curve;
}

// x is in days since the timelines' common start; a curve that ends earlier is padded with null.
template <class Value>
Json time_figure(std::span<const RunSummary> runs, Value value) {
  const std::size_t bins = bins_per_point(runs);
  Json y = Json::array();
  std::size_t points = 0;
  for (const RunSummary& run : runs) {
    y.push_back(
        time_curve(run.timeline, bins, [&](const TimelineBin& bin) { return value(run, bin); }));
    points = std::max(points, y.back().size());
  }
  for (Json& curve : y) {
    while (curve.size() < points) curve.push_back(nullptr);
  }
  const double step_s = runs.empty() ? 0 : static_cast<double>(runs[0].timeline.step.count());
  Json x = Json::array();
  for (std::size_t i = 0; i < points; ++i) {
    x.push_back(rounded(static_cast<double>(i * bins) * step_s / 86400));
  }
  return {{"x", std::move(x)}, {"y", std::move(y)}};
}

}  // namespace

std::string chart_data(std::span<const RunSummary> runs) {
  Json labels = Json::array();
  for (const RunSummary& run : runs) labels.push_back(clean_utf8(run.run.label));
  const Json document = {
      {"labels", std::move(labels)},
      {"jct", cdf_figure(runs, &RunSummary::jct_cdf)},
      {"queue", cdf_figure(runs, &RunSummary::queue_cdf)},
      {"utilisation", time_figure(runs,
                                  [](const RunSummary& run, const TimelineBin& bin) {
                                    return run.total_gpus > 0 ? bin.busy_gpus / run.total_gpus
                                                              : 0.0;
                                  })},
      {"queued", time_figure(runs, [](const RunSummary&, const TimelineBin& bin) {
         return bin.queued_jobs;
       })}};
  return script_safe(document.dump());
}

}  // namespace schedmate::report
