// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When each job is expected to start and end, again and again, in a thread of its own. Called by
/// the daemon's thread alone.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <schedmate/clock.hpp>
#include <schedmate/connector.hpp>
#include <schedmate/scheduler.hpp>
#include <vector>

#include "daemon/first_forecasts.hpp"
#include "daemon/forecasts.hpp"
#include "daemon/worker.hpp"
#include "settings/session.hpp"

namespace schedmate::daemon {

/// From the beginning of one forecast, which took that long, to that of the next: 40 times as long,
/// so that all of them take 2.5 % of a core, but 1 s at least, and of a long one 60 s or twice as
/// long.
[[nodiscard]] std::chrono::nanoseconds forecast_period(std::chrono::nanoseconds took);

class Foresight {
 public:
  /// `take` is called by the worker's thread, with what take() is then to be given.
  using Take = std::function<void(Result<Forecast>)>;
  /// `session` names the history, which tells of jobs before this process.
  Foresight(Clock clock, settings::Session session, Take take)
      : clock_(std::move(clock)), session_(std::move(session)), take_(std::move(take)) {}

  /// Of this reading, under whoever starts jobs. False, and the reading is as it was: while one is
  /// being made, and then until its period is over.
  struct Host {
    const Scheduler& scheduler;
    Seconds half_life;       ///< of what counts as used in its priorities
    const live::Loop& loop;  ///< whose orders are wished for, and what it knows of runs
  };
  bool foresee(Listing& listing, const Host& host);
  /// Runs of before this process, for `take`, from the worker's thread.
  void read_past(SimTime now, std::function<void(std::vector<SeenJob>)> take);
  /// What went wrong where there was a forecast before; "": nothing.
  std::string take(Result<Forecast> made);
  void ended(const SeenJob& job) { ended_.push_back(job); }
  void started(const SeenJob& job) { first_.started(job); }
  /// The one that is being made is soon over.
  void stop() { stopped_ = true; }

  /// Null: there is none yet.
  [[nodiscard]] const Forecast* last() const { return last_.get(); }
  [[nodiscard]] FirstForecasts::Counts counts() const { return first_.counts(); }

 private:
  void learn_past(SimTime now, const std::vector<SeenJob>& ended);

  Clock clock_;
  settings::Session session_;
  Take take_;
  std::atomic<bool> stopped_ = false;
  bool knows_past_ = false;  // the worker's thread alone, as the next two
  Forecasts forecasts_;
  Hindsight hindsight_;
  std::vector<SeenJob> ended_;  // that it has not been told of
  std::shared_ptr<const Forecast> last_;
  FirstForecasts first_;
  bool busy_ = false;
  std::chrono::nanoseconds next_{};
  Worker worker_{10};  // last: it uses what stands above
};

}  // namespace schedmate::daemon
