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

constexpr std::size_t rows_remembered = days_back * rows_per_day;

/// `value(row)` is NaN where nothing is known.
template <class Value>
double mean_of_rows(std::size_t from, std::size_t end, const Value& value) {
  double sum = 0;
  for (std::size_t row = from; row < end; ++row) sum += value(row);
  return from == end ? unknown : sum / static_cast<double>(end - from);
}

/// Mean of the same row on up to seven days before; on the first day of the six rows that ended
/// an hour before the fifth row ahead may begin.
template <class Seen>
double from_past(std::size_t row, const Seen& seen) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t day = 1; day <= days_back && day * rows_per_day <= row; ++day, ++count) {
    sum += seen(row - day * rows_per_day);
  }
  for (std::size_t back = 6; count < 6 && row < rows_per_day && back <= 11 && back <= row;
       ++back, ++count) {
    sum += seen(row - back);
  }
  return count == 0 ? unknown : sum / static_cast<double>(count);
}

SimTime begin_of_row(SimTime submit) { return round_up(submit - row_step + Seconds(1), row_step); }

std::size_t first_row_after(SimTime first, Seconds step, SimTime now) {
  return now < first ? 0 : static_cast<std::size_t>((now - first) / step) + 1;
}

class TableForecast final : public Forecast {
 public:
  explicit TableForecast(ForecastTable table) : table_(std::move(table)) {}

  [[nodiscard]] Load expected(SimTime now) const override {
    const std::size_t from = row_after(now);
    const std::size_t end = std::min(table_.jobs.size(), from + rows_ahead);
    return {mean_of_rows(from, end, [&](std::size_t row) { return table_.jobs[row]; }),
            mean_of_rows(from, end, [&](std::size_t row) { return table_.gpus[row]; })};
  }
  // Row r is the first one after an instant as soon as that instant has reached row r - 1.
  [[nodiscard]] SimTime next_row(SimTime now) const override {
    const std::size_t row = row_after(now);
    return row == table_.jobs.size() ? never : begin_of(row);
  }
  [[nodiscard]] bool is_settled(SimTime) const override { return true; }
  [[nodiscard]] bool is_over(SimTime now) const override {
    return now >= begin_of(table_.jobs.size()) - table_.step;
  }

 private:
  [[nodiscard]] std::size_t row_after(SimTime now) const {
    return std::min(first_row_after(table_.first, table_.step, now), table_.jobs.size());
  }
  [[nodiscard]] SimTime begin_of(std::size_t row) const {
    return table_.first + table_.step * static_cast<std::int64_t>(row);
  }

  ForecastTable table_;
};

}  // namespace

ForecastTable policy::forecast_from_past(const Trace& trace) {
  ForecastTable table;
  table.step = row_step;
  if (trace.jobs.empty()) return table;
  table.first = begin_of_row(trace.jobs.front().submit);
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
    table.jobs.push_back(from_past(row, [&](std::size_t past) { return jobs[past]; }));
    table.gpus.push_back(from_past(row, [&](std::size_t past) { return gpus[past]; }));
  }
  return table;
}

std::shared_ptr<const Forecast> forecast_by(ForecastTable table) {
  return std::make_shared<const TableForecast>(std::move(table));
}

std::shared_ptr<const Forecast> forecast_of(const Trace& trace) {
  return forecast_by(trace.forecast != nullptr ? *trace.forecast
                                               : policy::forecast_from_past(trace));
}

void SubmissionForecast::add(SimTime submit, int gpus) {
  if (first_ == never) first_ = begin_of_row(submit);
  latest_ = std::max(latest_, submit);
  const SimTime kept_from = first_ + row_step * static_cast<std::int64_t>(dropped_);
  if (submit < kept_from) return;
  const auto row = static_cast<std::size_t>((submit - kept_from) / row_step);
  if (row >= seen_.size()) seen_.resize(row + 1);
  seen_[row].jobs += 1;
  seen_[row].gpus += gpus;
  for (; seen_.size() > rows_remembered + 1; ++dropped_) seen_.pop_front();
}

Forecast::Load SubmissionForecast::expected(SimTime now) const {
  if (first_ == never) return {unknown, unknown};
  const std::size_t from = first_row_after(first_, row_step, now);
  const auto mean = [&](double Load::* count) {
    return mean_of_rows(from, from + rows_ahead, [&](std::size_t row) {
      return from_past(row, [&](std::size_t past) {
        const bool is_kept = past >= dropped_ && past - dropped_ < seen_.size();
        return is_kept ? seen_[past - dropped_].*count : 0;
      });
    });
  };
  return {mean(&Load::jobs), mean(&Load::gpus)};
}

SimTime SubmissionForecast::next_row(SimTime now) const {
  return begin_of_row(std::max(now, first_ == never ? now : first_ - row_step)) + row_step;
}

policy::SharingSwitch::SharingSwitch(std::shared_ptr<const Forecast> forecast, double quiet,
                                     Seconds interval)
    : forecast_(std::move(forecast)), quiet_(quiet), interval_(interval) {}

SimTime policy::SharingSwitch::set_at(SimTime now) const {
  return round_up(now - interval_ + Seconds(1), interval_);
}

bool policy::SharingSwitch::is_on(SimTime set) const {
  return !(forecast_->expected(set).jobs <= quiet_);  // unknown: on
}

bool policy::SharingSwitch::on(SimTime now) const {
  return forecast_ == nullptr || is_on(set_at(now));
}

SimTime policy::SharingSwitch::next_change(SimTime now) {
  if (forecast_ == nullptr) return never;
  if (now >= asked_ && now < change_) return change_;
  asked_ = now;
  const SimTime set = set_at(now);
  const bool on = is_on(set);
  SimTime row = forecast_->next_row(set);
  while (row != never && is_on(row) == on && forecast_->is_settled(row))
    row = forecast_->next_row(row);
  return change_ = row == never ? never : round_up(row, interval_);
}

}  // namespace schedmate
