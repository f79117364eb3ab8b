// SPDX-License-Identifier: Apache-2.0
#include "probe/job_use.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace schedmate::probe {
namespace {

constexpr double tenths_of_all = 1000;

std::uint32_t tenths_of(double pct) {
  return static_cast<std::uint32_t>(std::lround(std::clamp(pct, 0.0, 100.0) * 10));
}

std::optional<double> memory_pct(const UseReading& reading) {
  if (!reading.memory_used_mib || reading.memory_total_mib.value_or(0) <= 0) return std::nullopt;
  return 100 * *reading.memory_used_mib / *reading.memory_total_mib;
}

template <class Count>
std::optional<double> mean_of(Count tenths, Count readings) {
  if (readings == 0) return std::nullopt;
  return static_cast<double>(tenths) / static_cast<double>(readings) / 10;
}

Document rounded(const std::optional<double>& value) {
  return value ? Document(std::round(*value * 10) / 10) : Document(nullptr);
}

}  // namespace

void JobUse::Sums::add(const Sums& other) {
  // A span is full when another reading might not fit; its mean stays.
  constexpr auto most = static_cast<std::uint32_t>(
      static_cast<double>(std::numeric_limits<std::uint32_t>::max()) / tenths_of_all);
  if (other.gpu_readings <= most - std::min(gpu_readings, most)) {
    gpu_readings += other.gpu_readings;
    gpu_tenths += other.gpu_tenths;
  }
  if (other.memory_readings <= most - std::min(memory_readings, most)) {
    memory_readings += other.memory_readings;
    memory_tenths += other.memory_tenths;
  }
}

void JobUse::Measured::add(double pct) {
  const std::uint32_t tenths = tenths_of(pct);
  constexpr std::uint32_t tenths_in_step = 25;
  ++readings;
  this->tenths += tenths;
  most_tenths = std::max(most_tenths, tenths);
  std::uint32_t& share = shares.at(tenths / tenths_in_step);
  if (share < std::numeric_limits<std::uint32_t>::max()) ++share;
}

std::optional<double> JobUse::Measured::mean() const { return mean_of(tenths, readings); }

std::optional<double> JobUse::Measured::most() const {
  if (readings == 0) return std::nullopt;
  return static_cast<double>(most_tenths) / 10;
}

/// The upper end of the step in which it lies, but no more than was seen.
std::optional<double> JobUse::Measured::p95() const {
  if (readings == 0) return std::nullopt;
  const double wanted = 0.95 * static_cast<double>(readings);
  std::uint64_t below = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    below += shares.at(step);
    if (static_cast<double>(below) >= wanted)
      return std::min(2.5 * static_cast<double>(step + 1), *most());
  }
  return most();
}

void JobUse::Totals::add(const UseReading& reading) {
  from_s = readings == 0 ? reading.at_s : std::min(from_s, reading.at_s);
  to_s = std::max(to_s, reading.at_s);
  ++readings;
  if (reading.shared) ++shared;
  if (reading.gpu_pct) gpu.add(*reading.gpu_pct);
  if (reading.memory_busy_pct) busy.add(*reading.memory_busy_pct);
  if (const auto pct = memory_pct(reading)) memory.add(*pct);
  if (!reading.memory_used_mib) return;
  constexpr double most_mib = 1e8;
  const auto mib =
      static_cast<std::uint32_t>(std::lround(std::clamp(*reading.memory_used_mib, 0.0, most_mib)));
  ++memory_readings;
  memory_mib += mib;
  most_memory_mib = std::max(most_memory_mib, mib);
}

UseSummary JobUse::Totals::summary() const {
  UseSummary made;
  made.readings = readings;
  if (readings > 0)
    made.shared_pct = 100 * static_cast<double>(shared) / static_cast<double>(readings);
  made.from_s = from_s;
  made.to_s = to_s;
  made.gpu_pct_mean = gpu.mean();
  made.gpu_pct_p95 = gpu.p95();
  made.gpu_pct_max = gpu.most();
  made.memory_pct_mean = memory.mean();
  made.memory_pct_p95 = memory.p95();
  made.memory_pct_max = memory.most();
  made.memory_busy_pct_mean = busy.mean();
  if (memory_readings > 0) {
    made.memory_mib_mean = static_cast<double>(memory_mib) / static_cast<double>(memory_readings);
    made.memory_mib_max = most_memory_mib;
  }
  return made;
}

void JobUse::add(const UseReading& reading) {
  constexpr std::int64_t longest_s = std::int64_t{10} * 366 * 86'400;
  if (reading.at_s < 0 || reading.at_s > longest_s) return;
  all_.add(reading);
  if (!reading.shared) alone_.add(reading);
  const std::int64_t span_s = std::clamp<std::int64_t>(reading.span_s, 0, reading.at_s);
  gpu_spans_.measured_s += span_s;
  if (reading.idle) gpu_spans_.idle_s += span_s;
  while (reading.at_s / span_s_ >= static_cast<std::int64_t>(most_points)) {
    for (std::size_t i = 0; 2 * i < spans_.size(); ++i) {
      Sums joined = spans_[2 * i];
      if (2 * i + 1 < spans_.size()) joined.add(spans_[2 * i + 1]);
      spans_[i] = joined;
    }
    spans_.resize((spans_.size() + 1) / 2);
    span_s_ *= 2;
  }
  const auto at = static_cast<std::size_t>(reading.at_s / span_s_);
  if (at >= spans_.size()) spans_.resize(at + 1);
  Sums one;
  if (reading.gpu_pct) one = {1, tenths_of(*reading.gpu_pct), 0, 0};
  if (const auto pct = memory_pct(reading)) {
    one.memory_readings = 1;
    one.memory_tenths = tenths_of(*pct);
  }
  spans_[at].add(one);
}

std::vector<JobUse::Point> JobUse::series() const {
  std::vector<Point> points;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const Sums& span = spans_[i];
    if (span.gpu_readings + span.memory_readings == 0) continue;
    points.push_back({static_cast<std::int64_t>(i) * span_s_,
                      mean_of(span.gpu_tenths, span.gpu_readings),
                      mean_of(span.memory_tenths, span.memory_readings)});
  }
  return points;
}

UseSummary JobUse::summary() const { return all_.summary(); }
UseSummary JobUse::alone() const { return alone_.summary(); }

Document use_document(const UseSummary& summary) {
  return {{"readings", summary.readings},
          {"shared_pct", rounded(summary.shared_pct)},
          {"from_s", summary.from_s},
          {"to_s", summary.to_s},
          {"gpu_pct_mean", rounded(summary.gpu_pct_mean)},
          {"gpu_pct_p95", rounded(summary.gpu_pct_p95)},
          {"gpu_pct_max", rounded(summary.gpu_pct_max)},
          {"memory_pct_mean", rounded(summary.memory_pct_mean)},
          {"memory_pct_p95", rounded(summary.memory_pct_p95)},
          {"memory_pct_max", rounded(summary.memory_pct_max)},
          {"memory_mib_mean", rounded(summary.memory_mib_mean)},
          {"memory_mib_max", rounded(summary.memory_mib_max)},
          {"memory_busy_pct_mean", rounded(summary.memory_busy_pct_mean)}};
}

Document use_document(const JobUse& use) {
  Document series = Document::array();
  for (const JobUse::Point& point : use.series())
    series.push_back({{"since_start_s", point.at_s},
                      {"gpu_pct", rounded(point.gpu_pct)},
                      {"memory_pct", rounded(point.memory_pct)}});
  Document made = use_document(use.summary());
  made["series"] = std::move(series);
  return made;
}

}  // namespace schedmate::probe
