// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The forecast of a queue that changes (eta.hpp), for callers that ask again after each change.

#include <memory>
#include <schedmate/eta.hpp>
#include <string_view>

namespace schedmate {

/// After any number of changes it says what forecast_queue() says of the changed snapshot, to the
/// last digit. A change costs its pool a new replay, but no new draws; the other pools keep their
/// samples. Time passes only by advance(). Of the past, it knows what the snapshot had: whoever
/// holds one for days makes it anew. One thread at a time.
class QueueForecaster {
 public:
  QueueForecaster(QueueSnapshot snapshot, Scheduler scheduler, const EtaOptions& options);
  QueueForecaster(QueueForecaster&&) noexcept;
  QueueForecaster& operator=(QueueForecaster&&) noexcept;
  ~QueueForecaster();

  /// The last of the snapshot's jobs from now on: it waits, or runs already. Errors: invalid for a
  /// job that is in no pool, has no GPU, or names a limit that is not there.
  Result<void> arrived(SnapshotJob job);
  /// Ended, or left the queue. The later ones move up. Errors: not_found.
  Result<void> ended(std::string_view id);
  /// It is this late now; what has not ended by then goes on. All pools are replayed anew, and what
  /// runs is drawn anew. Errors: invalid for an instant before the snapshot's.
  Result<void> advance(SimTime now);

  /// A first answer, which later calls refine: pools that have changed draw the first `samples`
  /// alone, others say what they know. At most EtaOptions::samples. Errors: those of
  /// forecast_queue().
  [[nodiscard]] Result<QueueForecast> forecast(std::int64_t samples);
  /// From all samples.
  [[nodiscard]] Result<QueueForecast> forecast();

  [[nodiscard]] const QueueSnapshot& snapshot() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace schedmate
