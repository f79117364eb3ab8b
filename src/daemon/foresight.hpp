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

class Foresight {
 public:
  /// `take` is called by the worker's thread, with what take() is then to be given.
  using Take = std::function<void(Result<Forecast>)>;
  /// `session` names the history, which tells of jobs before this process.
  Foresight(Clock clock, settings::Session session, Take take)
      : clock_(std::move(clock)), session_(std::move(session)), take_(std::move(take)) {}

  /// Of this reading, under whoever starts jobs. False, and the reading is as it was: while one is
  /// being made, and then for as long as that took, or a second.
  bool foresee(Listing& listing, const Scheduler& scheduler);
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
