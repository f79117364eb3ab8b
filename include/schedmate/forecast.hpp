// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is expected to be submitted soon; Lucid's switches go by it (Lucid 3.2, 3.3). It is either
/// a table that is there from the start, as in a replay, or made of what has been submitted so far,
/// as on a live cluster. At any instant both say the same of the same submissions.

#include <deque>
#include <memory>
#include <schedmate/job.hpp>
#include <schedmate/time.hpp>

namespace schedmate {

/// Counts are per ten minutes, in rows of ten minutes on the driver's clock.
class Forecast {
 public:
  virtual ~Forecast() = default;

  struct Load {
    double jobs = 0, gpus = 0;
  };
  /// Mean over the next five rows after `now`; NaN where nothing is known.
  [[nodiscard]] virtual Load expected(SimTime now) const = 0;
  /// The next instant with another answer; `never` when there is none.
  [[nodiscard]] virtual SimTime next_row(SimTime now) const = 0;
  /// Whether the answer at that instant is known already: submissions may yet change it.
  [[nodiscard]] virtual bool is_settled(SimTime now) const = 0;
  /// Whether it foretells nothing more.
  [[nodiscard]] virtual bool is_over(SimTime now) const = 0;
};

/// By a table. Threads may share it.
[[nodiscard]] std::shared_ptr<const Forecast> forecast_by(ForecastTable table);
/// The trace's own table, or else one made of its past: a row is the mean of the same ten minutes
/// on up to seven days before, and on the first day that of an hour that is over. It goes on for a
/// week after the last submission.
[[nodiscard]] std::shared_ptr<const Forecast> forecast_of(const Trace& trace);

/// The same from the submissions so far, of which it remembers a week. One thread.
class SubmissionForecast final : public Forecast {
 public:
  /// In order of submission; what is older than a week is left out.
  void add(SimTime submit, int gpus);

  [[nodiscard]] Load expected(SimTime now) const override;
  [[nodiscard]] SimTime next_row(SimTime now) const override;
  [[nodiscard]] bool is_settled(SimTime now) const override { return now <= latest_; }
  [[nodiscard]] bool is_over(SimTime) const override { return false; }

 private:
  SimTime first_ = never;            // begin of the first row of all
  SimTime latest_ = SimTime::min();  // submission
  std::size_t dropped_ = 0;          // rows before those of seen_
  std::deque<Load> seen_;
};

}  // namespace schedmate
