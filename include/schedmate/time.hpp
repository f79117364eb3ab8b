// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Time. The simulator and every trace count whole seconds on the trace's own clock. Its zero is
/// whatever the trace says: 1970 for dated traces, else the trace's first instant. Nothing in the
/// library reads the wall clock; clock.hpp hands it in where it is needed.

#include <chrono>
#include <cstdint>

namespace schedmate {

using Seconds = std::chrono::duration<std::int64_t>;
/// For estimates and means. A duration that happened is Seconds.
using FractionalSeconds = std::chrono::duration<double>;

/// The clock of a trace. It is passed in, never read, so it has no now().
struct TraceClock {
  using duration = Seconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<TraceClock, Seconds>;
  static constexpr bool is_steady = true;
};
using SimTime = TraceClock::time_point;

/// The instant `s` seconds after the clock's zero.
[[nodiscard]] constexpr SimTime at(std::int64_t s) { return SimTime(Seconds(s)); }

/// Seconds since the clock's zero.
[[nodiscard]] constexpr std::int64_t seconds_of(SimTime t) { return t.time_since_epoch().count(); }

/// Later than every event.
inline constexpr SimTime never = SimTime::max();

/// The first multiple of `step` (on the trace's clock) that is not before `t`, which may be
/// negative; `step` is at least 1 s. Schedulers that decide in rounds wake up there.
[[nodiscard]] constexpr SimTime round_up(SimTime t, Seconds step) {
  const std::int64_t s = seconds_of(t);
  const std::int64_t rest = s % step.count();
  if (rest == 0) return t;
  return at(s - rest + (rest > 0 ? step.count() : 0));
}

}  // namespace schedmate
