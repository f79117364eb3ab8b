// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is to happen and when, in milliseconds of the storm's own time. What is due at the same
/// instant happens in the order in which it was asked for.

#include <cstdint>
#include <functional>
#include <map>
#include <schedmate/time.hpp>
#include <utility>

namespace schedmate::storm {

using Millis = std::int64_t;
constexpr Millis millis_of(Seconds seconds) { return seconds.count() * 1000; }

class Timeline {
 public:
  using Deed = std::function<void()>;
  void in(Millis delay, Deed deed) {
    deeds_.emplace(std::pair{now_ + delay, sequence_++}, std::move(deed));
  }
  [[nodiscard]] Millis now() const { return now_; }
  /// The cluster's clock and every honest one.
  [[nodiscard]] SimTime clock() const { return clock_at(now_); }
  [[nodiscard]] static SimTime clock_at(Millis when) { return start + Seconds(when / 1000); }
  /// Does what is due next; false: nothing is, up to then.
  bool step(Millis until) {
    if (deeds_.empty() || deeds_.begin()->first.first > until) {
      now_ = until;
      return false;
    }
    auto next = deeds_.extract(deeds_.begin());
    now_ = next.key().first;
    next.mapped()();
    return true;
  }

 private:
  static constexpr SimTime start = at(1'000'000);
  Millis now_ = 0;
  std::uint64_t sequence_ = 0;
  std::map<std::pair<Millis, std::uint64_t>, Deed> deeds_;
};

}  // namespace schedmate::storm
