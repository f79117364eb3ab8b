// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When waiting jobs start and running ones end, from the queue as it was last read (docs/eta.md).
/// Run times come from the jobs that it was told have ended, the last 20,000. All of it takes long,
/// and is for another thread than the loop's.

#include <deque>
#include <map>
#include <memory>
#include <schedmate/connector.hpp>
#include <schedmate/eta.hpp>
#include <string>
#include <unordered_map>

#include "base/document.hpp"
#include "daemon/hindsight.hpp"
#include "eta/run_time_model.hpp"

namespace schedmate::daemon {

/// What is expected of the jobs of one reading.
struct Forecast {
  SimTime now;
  std::int64_t samples = 0;
  struct Job {
    std::optional<InstantQuantiles> start;
    InstantQuantiles end;
    QueueBlock block = QueueBlock::none;
    std::string text;                  ///< why it waits
    std::vector<std::string> awaited;  ///< jobs whose end it waits for
    RunTimeSource by = RunTimeSource::site;
  };
  std::unordered_map<std::string, Job> jobs;  ///< by id
};

/// A queue that a forecast can be made of: jobs without what is believed of them, the submissions
/// that this is drawn from, and the texts that it points into.
struct Question {
  QueueSnapshot snapshot;
  std::vector<eta::Submitted> submitted;  ///< in order of time
  std::vector<std::size_t> rows;          ///< of the snapshot's jobs, among them
  std::deque<std::string> texts;
};

class Forecasts {
 public:
  static constexpr std::size_t most_past = 20'000;
  /// A job that has ended is learned from.
  void note(const SeenJob& job);
  /// Of one reading. Nodes of a pool that have another number of GPUs than the first are left out.
  [[nodiscard]] std::unique_ptr<Question> question(const Listing& listing);

 private:
  struct Ended {
    std::string user, partition;
    std::int32_t gpus;
    SimTime submitted, started, ended;
  };
  std::deque<Ended> past_;  // by end; the last ones
  std::map<std::string, std::uint32_t> users_;
};

/// Corrected by what came of earlier ones, and noted there. Errors: those of forecast_queue().
[[nodiscard]] Result<Forecast> forecast_of(std::unique_ptr<Question> asked,
                                           const Scheduler& scheduler, Hindsight& hindsight);

/// For a job's document, "eta": null where nothing is expected of it. Long lists take the text.
[[nodiscard]] std::string eta_text(const Forecast& forecast, const std::string& job);
[[nodiscard]] Document eta_of(const Forecast& forecast, const std::string& job);

}  // namespace schedmate::daemon
