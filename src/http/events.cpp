// SPDX-License-Identifier: Apache-2.0
#include "http/events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace schedmate::http {
namespace {

bool may_see(const Event& event, const Caller& caller) {
  switch (event.audience) {
    case Audience::all:
      return true;
    case Audience::owner:
      return caller.may_see_jobs_of(event.user);
    case Audience::operators:
      return caller.role == Role::cluster_operator;
  }
  return false;
}

std::size_t size_of(const Event& event) { return event.kind.size() + event.data.size() + 64; }

}  // namespace

EventLog::EventLog(const EventBounds& bounds) : bounds_(bounds), next_(bounds.first_id) {
  SCHEDMATE_CHECK(bounds.first_id > 0, "0 is before every event");
}

std::uint64_t EventLog::publish(Event event) {
  std::ranges::replace_if(event.data, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::function<void()> wake;
  std::uint64_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    id = next_++;
    bytes_ += size_of(event);
    events_.push_back({id, std::move(event)});
    while (events_.size() > bounds_.events || (bytes_ > bounds_.bytes && events_.size() > 1)) {
      bytes_ -= size_of(events_.front().event);
      events_.pop_front();
    }
    wake = wake_;
  }
  if (wake) wake();
  return id;
}

Delta EventLog::since(std::uint64_t after, const Caller& caller, std::size_t most_bytes) const {
  const std::scoped_lock lock(mutex_);
  Delta delta;
  const std::uint64_t oldest = events_.empty() ? next_ : events_.front().id;
  if (after >= next_ || after + 1 < oldest) {
    delta.full = true;
    delta.last = next_ - 1;
    return delta;
  }
  delta.last = after;
  std::size_t bytes = 0;
  for (auto at = events_.begin() + static_cast<std::ptrdiff_t>(after + 1 - oldest);
       at != events_.end(); ++at) {
    const bool is_seen = may_see(at->event, caller);
    if (is_seen && bytes > 0 && bytes + size_of(at->event) > most_bytes) break;
    delta.last = at->id;
    if (!is_seen) continue;
    bytes += size_of(at->event);
    delta.events.push_back(*at);
  }
  return delta;
}

std::uint64_t EventLog::last_id() const {
  const std::scoped_lock lock(mutex_);
  return next_ - 1;
}

void EventLog::on_publish(std::function<void()> wake) {
  const std::scoped_lock lock(mutex_);
  wake_ = std::move(wake);
}

std::string event_text(const Delta& delta) {
  if (delta.full) return fmt::format("id: {}\nevent: full\ndata: {{}}\n\n", delta.last);
  std::string text;
  for (const auto& [id, event] : delta.events)
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event.kind, event.data);
  return text;
}

}  // namespace schedmate::http
