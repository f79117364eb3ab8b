// SPDX-License-Identifier: Apache-2.0
#include "policy/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace schedmate {
namespace {

constexpr std::size_t rows_ahead = 5;
constexpr Seconds row_step{600};
constexpr std::size_t rows_per_day = 144;
constexpr std::size_t days_back = 7;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::size_t first_row_after(const ForecastTable& table, SimTime now) {
  if (now < table.first) return 0;
  const auto row = static_cast<std::size_t>((now - table.first) / table.step) + 1;
  return std::min(row, table.jobs.size());
}

double mean_from(const std::vector<double>& values, std::size_t row) {
  const std::size_t end = std::min(values.size(), row + rows_ahead);
  double sum = 0;
  for (std::size_t i = row; i < end; ++i) sum += values[i];
  return row == end ? unknown : sum / static_cast<double>(end - row);
}

/// Mean of the same row on up to seven days before; on the first day of the six rows that ended
/// an hour before the fifth row ahead may begin.
double from_past(const std::vector<double>& seen, std::size_t row) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t day = 1; day <= days_back && day * rows_per_day <= row; ++day, ++count) {
    sum += seen[row - day * rows_per_day];
  }
  for (std::size_t back = 6; count < 6 && row < rows_per_day && back <= 11 && back <= row;
       ++back, ++count) {
    sum += seen[row - back];
  }
  return count == 0 ? unknown : sum / static_cast<double>(count);
}

}  // namespace

ForecastTable forecast_from_past(const Trace& trace) {
  ForecastTable table;
  table.step = row_step;
  if (trace.jobs.empty()) return table;
  table.first = round_up(trace.jobs.front().submit - row_step + Seconds(1), row_step);
  const auto row_of = [&](SimTime t) {
    return static_cast<std::size_t>((t - table.first) / row_step);
  };
  // The table goes on after the last submission: that it was the last is only learnt later.
  const std::size_t rows = row_of(trace.jobs.back().submit) + 1;
  std::vector<double> jobs(rows + days_back * rows_per_day + rows_ahead);
  std::vector<double> gpus(jobs.size());
  for (const Job& job : trace.jobs) {
    jobs[row_of(job.submit)] += 1;
    gpus[row_of(job.submit)] += job.gpus;
  }
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    table.jobs.push_back(from_past(jobs, row));
    table.gpus.push_back(from_past(gpus, row));
  }
  return table;
}

double mean_of_next(const ForecastTable& table, const std::vector<double>& values, SimTime now) {
  return mean_from(values, first_row_after(table, now));
}

SharingSwitch::SharingSwitch(std::shared_ptr<const ForecastTable> table, double quiet,
                             Seconds interval)
    : table_(std::move(table)), interval_(interval) {
  for (std::size_t row = 0; row <= table_->jobs.size(); ++row) {
    on_.push_back(!(mean_from(table_->jobs, row) <= quiet));  // unknown: on
  }
}

std::size_t SharingSwitch::row_after(SimTime now) const {
  const SimTime set = round_up(now - interval_ + Seconds(1), interval_);
  return first_row_after(*table_, set);
}

bool SharingSwitch::on(SimTime now) const { return on_[row_after(now)]; }

SimTime SharingSwitch::next_change(SimTime now) const {
  const std::size_t row = row_after(now);
  const auto change =
      std::find(on_.begin() + static_cast<std::ptrdiff_t>(row), on_.end(), !on_[row]);
  if (change == on_.end()) return never;
  // Row r is the first one after an instant as soon as that instant has reached row r - 1.
  const auto reached = change - on_.begin() - 1;
  return round_up(table_->first + reached * table_->step, interval_);
}

}  // namespace schedmate
