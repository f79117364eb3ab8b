// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/network.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace schedmate::storm {

void Network::arrive(const Sent& sent, Millis after, Answer answer) {
  timeline_.in(after, [this, sent, answer = std::move(answer)] {
    cluster_.next_is(sent);
    CallReply reply = cluster_.call(sent.call, Connector::Deadline(deadline));
    if (answer) answer(std::move(reply));
  });
}

void Network::call(const Sent& sent, const Answer& answer) {
  using enum Fault;
  const auto reply_at = [this, answer](Millis delay, const CallReply& reply) {
    timeline_.in(delay, [answer, reply] { answer(reply); });
    if (dice_.strikes(reply_twice, 0.4))
      timeline_.in(delay + dice_.of(reply_twice).between(1, 2 * lateness),
                   [answer, reply] { answer(reply); });
  };
  const auto note = [&](std::string_view what) {
    book_.note(timeline_.now(), "network  {} of action {}: {}", text_of(sent.call), sent.action,
               what);
  };
  const Millis there = latency(), back = latency();
  const CallReply none{CallOutcome::unknown, "no answer in time", {}};
  constexpr double often = 0.4;
  if (dice_.strikes(call_twice, often)) {
    note("is delivered twice");
    arrive(sent, there + dice_.of(call_twice).between(50, lateness), {});
  }
  if (dice_.strikes(call_lost, often)) {
    note("is lost");
    return reply_at(dice_.of(call_lost).between(0, 1) == 0 ? deadline : back, none);
  }
  if (dice_.strikes(call_late, often)) {
    note("will be late");
    arrive(sent, deadline + dice_.of(call_late).between(1, lateness), {});
    return reply_at(deadline, none);
  }
  if (dice_.strikes(reply_lost, often)) {
    note("its answer is lost");
    arrive(sent, there, {});
    return reply_at(deadline, none);
  }
  if (dice_.strikes(says_done, often)) {
    note("is not carried out, and called done");
    return reply_at(there + back, {CallOutcome::done, {}, {}});
  }
  if (dice_.strikes(says_refused, often)) {
    note("is carried out, and called refused");
    arrive(sent, there, {});
    return reply_at(there + back, {CallOutcome::refused, "a lie", {}});
  }
  Millis more = back;
  if (dice_.strikes(reply_slow, often))
    more = dice_.of(reply_slow).between(back, deadline - there - 1);
  arrive(sent, there, [reply_at, more](const CallReply& reply) { reply_at(more, reply); });
}

/// Without some jobs and nodes now and then; none is left out twice in a row, and of three readings
/// in a row one is whole.
Network::Shown Network::part_of(const Shown& whole) {
  constexpr double often = 0.3, share = 0.3;
  constexpr int most_in_a_row = 2;
  std::set<std::string> left_out;
  if (parts_ < most_in_a_row && dice_.strikes(Fault::list_partial, often)) {
    Listing part = *whole;
    Random& random = dice_.of(Fault::list_partial);
    const auto goes = [&](const std::string& name) {
      if (left_out_.contains(name) || random.uniform() >= share) return false;
      return left_out.insert(name).second;
    };
    std::erase_if(part.jobs, [&](const SeenJob& job) { return goes("job " + job.id); });
    std::erase_if(part.nodes, [&](const SeenNode& node) { return goes("node " + node.name); });
    book_.note(timeline_.now(), "network  a reading lacks {}", fmt::join(left_out, ", "));
    left_out_ = std::move(left_out);
    ++parts_;
    return std::make_shared<const Listing>(std::move(part));
  }
  left_out_.clear();
  parts_ = 0;
  return whole;
}

void Network::list(SimTime ended_since, const std::function<void(const Result<Shown>&)>& answer) {
  using enum Fault;
  const auto answer_at = [this, answer](Millis delay, Result<Shown> listing) {
    timeline_.in(delay, [answer, listing = std::move(listing)] { answer(listing); });
  };
  constexpr double often = 0.3;
  const Millis there = latency();
  Millis back = latency();
  if (dice_.strikes(list_fails, often)) {
    book_.note(timeline_.now(), "network  a reading fails");
    return answer_at(dice_.of(list_fails).between(0, 1) == 0 ? deadline : back,
                     fail(ErrorCode::unavailable, "no answer in time"));
  }
  if (dice_.strikes(list_garbled, often)) {
    book_.note(timeline_.now(), "network  a reading is cut off");
    return answer_at(there + back, fail(ErrorCode::invalid, "the answer is cut off"));
  }
  if (dice_.strikes(list_stale, often) && !older_.empty()) {
    const auto pick = dice_.of(list_stale).below(std::ssize(older_));
    Listing old = *older_.at(static_cast<std::size_t>(pick));
    book_.note(timeline_.now(), "network  a reading shows version {} instead of {}", old.version,
               cluster_.version());
    std::erase_if(old.jobs, [&](const SeenJob& job) {
      return job.phase == JobPhase::ended && job.ended.value_or(never) < ended_since;
    });
    old.ended_since = std::max(old.ended_since, ended_since);
    return answer_at(there + back, std::make_shared<const Listing>(std::move(old)));
  }
  if (dice_.strikes(list_slow, often)) back = dice_.of(list_slow).between(1000, deadline - there);
  timeline_.in(there, [this, ended_since, back, answer_at] {
    auto listing = cluster_.list(ended_since, Connector::Deadline(deadline));
    if (!listing) return answer_at(back, tl::unexpected(listing.error()));
    constexpr std::size_t most = 6;
    older_.push_back(std::make_shared<const Listing>(std::move(*listing)));
    if (older_.size() > most) older_.pop_front();
    answer_at(back, part_of(older_.back()));
  });
}

}  // namespace schedmate::storm
