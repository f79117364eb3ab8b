// SPDX-License-Identifier: Apache-2.0
#include "eta/submissions.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace schedmate::eta {
namespace {

constexpr Seconds day{86'400};
constexpr std::int64_t most_days = 28;

}  // namespace

PastDays::PastDays(const QueueSnapshot& snapshot, std::uint32_t pool) : now_(snapshot.now) {
  site_.curve = snapshot.site;
  if (snapshot.past.empty()) return;
  days_ = std::min(most_days, (now_ - snapshot.past.front().submit) / day);
  for (const PastSubmission& each : snapshot.past)
    if (each.pool == pool && each.submit >= now_ - days_ * day && each.submit < now_)
      past_.push_back(each);
}

PoolReplay::NextSubmission PastDays::draw(std::uint64_t seed) const {
  if (past_.empty()) return [] { return std::optional<Submission>(); };
  struct State {
    Random random;
    std::int64_t day = -1;  // from now
    std::size_t next = 0, end = 0;
    Seconds shift{0};
    int empty_days = 0;
  };
  const auto begin_day = [this](State& state) {
    ++state.day;
    // A day of the past, 1 = the one that ends now.
    std::int64_t back = 1 + state.random.below(days_);
    const std::int64_t same_weekday = 7 - state.day % 7;
    if (same_weekday <= days_ && state.random.below(2) == 0)
      back = same_weekday + 7 * state.random.below((days_ - same_weekday) / 7 + 1);
    const auto first = [this](SimTime when) {
      const auto found = std::ranges::lower_bound(past_, when, {}, &PastSubmission::submit);
      return static_cast<std::size_t>(found - past_.begin());
    };
    state.next = first(now_ - back * day);
    state.end = first(now_ - (back - 1) * day);
    state.shift = (state.day + back) * day;
  };
  return [this, begin_day,
          state = State{.random = Random(seed)}]() mutable -> std::optional<Submission> {
    while (state.next == state.end) {
      constexpr int lifeless = 1000;
      if (++state.empty_days > lifeless) return std::nullopt;
      begin_day(state);
    }
    const PastSubmission& past = past_[state.next++];
    const double share = state.random.uniform();
    std::optional<Rank> rank = past.rank;
    if (rank) rank->since = past.submit + state.shift;
    return Submission{.submit = past.submit + state.shift,
                      .user = past.user,
                      .gpus = past.gpus,
                      .planned = past.planned,
                      .ran_s = past.ended ? past.ran_s : site_.draw(share, past.ran_s),
                      .nodes = past.nodes.get(),
                      .rank = rank};
  };
}

}  // namespace schedmate::eta
