// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When waiting jobs start and running ones end, from the queue as it was last read (docs/eta.md).
/// Run times come from the jobs that it was told have ended, the last 20,000. All of it takes long,
/// and is for another thread than the loop's.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/connector.hpp>
#include <schedmate/eta.hpp>
#include <string>
#include <unordered_map>

#include "base/document.hpp"
#include "daemon/hindsight.hpp"
#include "eta/run_time_model.hpp"
#include "eta/told_run_time.hpp"
#include "live/loop.hpp"

namespace schedmate::daemon {

/// What it would change if orders were set as they are wished for (live/ordering.hpp): the same
/// queue replayed twice with equal draws.
struct OrderEffect {
  std::int64_t waiting = 0;  ///< jobs, of those that start in both replays
  std::int64_t changed = 0;  ///< of them with another order
  std::int64_t samples = 0;
  /// Of the mean wait of these jobs from submission to start, in seconds; of the change in per
  /// cent of it.
  struct Figures {
    double mean = 0, p10 = 0, p90 = 0;
  };
  Figures now, would_be, change_pct;
  /// Of those among them of which nothing is known; 0 where there are none.
  std::int64_t unknown = 0;
  Figures unknown_now, unknown_would_be;
};

/// What is expected of the jobs of one reading.
struct Forecast {
  SimTime now;
  std::int64_t samples = 0;
  std::optional<OrderEffect> order{};  ///< nothing: no order is wished for
  struct Job {
    std::optional<InstantQuantiles> start;
    InstantQuantiles end;
    QueueBlock block = QueueBlock::none;
    std::string text;                  ///< why it waits
    std::vector<std::string> awaited;  ///< jobs whose end it waits for
    RunTimeSource by = RunTimeSource::site;
    std::optional<InstantQuantiles> start_if_ordered{};
  };
  std::unordered_map<std::string, Job> jobs;  ///< by id
};

/// What is known of how long a job runs, beside what its user's other jobs tell.
struct KnownRun {
  std::optional<RunTimeDistribution> advised{};
  std::optional<eta::ToldProgress> progress{};  ///< of one that runs
};

/// A queue that a forecast can be made of: jobs without what is believed of them, the submissions
/// that this is drawn from, and the texts that it points into.
struct Question {
  QueueSnapshot snapshot;
  std::vector<eta::Submitted> submitted;  ///< in order of time
  std::vector<std::size_t> rows;          ///< of the snapshot's jobs, among them
  std::deque<std::string> texts;
  /// Of the snapshot's jobs, if orders are wished for at all.
  std::vector<live::Ordering::WouldBe> would_be;
  /// Of the snapshot's jobs.
  std::vector<KnownRun> runs;
};

/// Orders that are wished for, by id.
using Wishes = std::unordered_map<std::string, live::Ordering::WouldBe>;
using KnownRuns = std::unordered_map<std::string, KnownRun>;  ///< by id

class Forecasts {
 public:
  static constexpr std::size_t most_past = 20'000;
  /// A job that has ended is learned from.
  void note(const SeenJob& job);
  /// Of one reading. Nodes of a pool that have another number of GPUs than the first are left out.
  [[nodiscard]] std::unique_ptr<Question> question(const Listing& listing,
                                                   const Wishes& wishes = {},
                                                   const KnownRuns& runs = {});
  /// What was used so long ago counts half in a cluster's priorities; 0: all of it counts.
  void half_life(Seconds time) { half_life_ = time; }

 private:
  struct Ended {
    std::string user, partition;
    std::int32_t gpus;
    SimTime submitted, started, ended;
  };
  [[nodiscard]] std::map<std::string, double> used_gpu_s(SimTime now) const;
  Seconds half_life_{0};
  std::deque<Ended> past_;  // by end; the last ones
  std::map<std::string, std::uint32_t> users_;
};

/// Of those that wait; none where nobody is told who goes first, or all is as it should be.
[[nodiscard]] Wishes wishes_of(const live::Loop& loop);
/// By advice and logs.
[[nodiscard]] KnownRuns known_runs(const live::Jobs& jobs, const live::Lives& lives, SimTime now);

/// Corrected by what came of earlier ones, and noted there. Errors: those of forecast_queue().
[[nodiscard]] Result<Forecast> forecast_of(std::unique_ptr<Question> asked,
                                           const Scheduler& scheduler, Hindsight& hindsight);

/// For a job's document, "eta": null where nothing is expected of it, or there is no forecast. What
/// was foreseen before `now` and has not happened is left out. Long lists take the text.
[[nodiscard]] std::string eta_text(const Forecast* forecast, const SeenJob& job, SimTime now);
[[nodiscard]] Document eta_of(const Forecast* forecast, const SeenJob& job, SimTime now);
/// When it would start with the orders that are wished for; null: none is, or nobody knows.
[[nodiscard]] Document start_if_ordered(const Forecast* forecast, const std::string& job,
                                        SimTime now);

}  // namespace schedmate::daemon
