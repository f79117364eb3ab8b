// SPDX-License-Identifier: Apache-2.0
#include "synth/arrivals.hpp"

#include <algorithm>

namespace schedmate::synth {
namespace {

constexpr Seconds day{86'400};
constexpr std::int64_t week_days = 7;

SimTime midnight_before(SimTime time) {
  const std::int64_t s = seconds_of(time);
  const std::int64_t rest = s % day.count();
  return at(s - rest - (rest < 0 ? day.count() : 0));
}

/// Uniform between the submission drawn and the next one: the quantile function of the day, made
/// continuous, so that many more jobs than the real day had do not pile up on its seconds.
Seconds within(const std::vector<Seconds>& times, std::size_t count, Random& random) {
  const auto i = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(count)));
  const Seconds next = i + 1 < times.size() ? times[i + 1] : day;
  return times[i] + Seconds(random.below(std::max<std::int64_t>(1, (next - times[i]).count())));
}

}  // namespace

Arrivals::Arrivals(const Trace& trace) : midnight_(midnight_before(trace.jobs.front().submit)) {
  for (const Job& job : trace.jobs) {
    const auto index = static_cast<std::size_t>((job.submit - midnight_) / day);
    if (days_.size() <= index) days_.resize(index + 1);
    days_[index].push_back((job.submit - midnight_) % day);
  }
}

const std::vector<Seconds>& Arrivals::like(std::int64_t index, Random& random) const {
  const auto first = index % week_days;
  const auto count = static_cast<std::int64_t>(days_.size());
  const auto alike = first < count ? (count - first + week_days - 1) / week_days : 0;
  const auto chosen = alike > 0 ? first + week_days * random.below(alike) : random.below(count);
  return days_[static_cast<std::size_t>(chosen)];
}

std::vector<SimTime> Arrivals::draw(std::size_t count, Seconds span, Random random) const {
  struct Slot {
    const std::vector<Seconds>* times;
    std::size_t usable;  // submissions before the end of the span
    double up_to;        // share of all jobs in this day and those before
  };
  std::vector<Slot> slots;
  double total = 0;
  for (std::int64_t i = 0; i * day < span; ++i) {
    const auto& times = like(i, random);
    const auto end = std::ranges::lower_bound(times, span - i * day);
    const auto usable = static_cast<std::size_t>(end - times.begin());
    total += static_cast<double>(usable);
    slots.push_back({&times, usable, total});
  }
  std::vector<SimTime> submits;
  submits.reserve(count);
  while (submits.size() < count) {
    if (total == 0) {  // a span that ends before the first real submission of the day
      submits.push_back(midnight_ + Seconds(random.below(span.count())));
      continue;
    }
    const auto slot = std::ranges::upper_bound(slots, random.uniform() * total, {}, &Slot::up_to);
    const auto index = slot - slots.begin();
    const SimTime time = midnight_ + index * day + within(*slot->times, slot->usable, random);
    submits.push_back(std::min(time, midnight_ + span - Seconds(1)));
  }
  std::ranges::sort(submits);
  return submits;
}

}  // namespace schedmate::synth
