// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The last changes, for those who follow: as a stream (SSE) and as a delta. Bounded; who lags
/// behind the oldest gets `full` instead (read everything again) and goes on from the newest: the
/// latest wins. All functions may be called by any thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <schedmate/caller.hpp>
#include <string>
#include <vector>

namespace schedmate::http {

enum class Audience : std::uint8_t { all, owner, operators };

struct Event {
  std::string kind;  ///< "job", "node", ...: letters and _
  std::string data;  ///< one line of JSON
  Audience audience = Audience::all;
  std::string user{};  ///< whose job it is about, where `audience` is owner
};

struct EventBounds {
  std::size_t events = 4096;
  std::size_t bytes = 4U << 20U;  ///< of kinds and data, and 64 for each event
  std::uint64_t first_id = 1;     ///< above every id that an earlier life of the daemon gave
};

struct NumberedEvent {
  std::uint64_t id = 0;
  Event event;
};

struct Delta {
  bool full = false;  ///< what was before `last` may be missing: read everything again
  std::vector<NumberedEvent> events;  ///< oldest first; none when `full`
  std::uint64_t last = 0;             ///< ask for what comes after this the next time
};

class EventLog {
 public:
  explicit EventLog(const EventBounds& bounds = {});
  /// Gives its id. Cheap: what waits is woken by another thread.
  std::uint64_t publish(Event event);
  /// What the caller may see of what came after `after`, at most about `most_bytes` of it (one at
  /// least). `full` when that is no longer known or `after` was never given.
  [[nodiscard]] Delta since(std::uint64_t after, const Caller& caller,
                            std::size_t most_bytes) const;
  [[nodiscard]] std::uint64_t last_id() const;
  /// Called after each publish(), by its thread; it must not block. Null: nothing is called.
  void on_publish(std::function<void()> wake);

 private:
  mutable std::mutex mutex_;
  EventBounds bounds_;
  std::deque<NumberedEvent> events_;
  std::size_t bytes_ = 0;
  std::uint64_t next_;
  std::function<void()> wake_;
};

/// As text/event-stream has it. A `full` is an event of that kind.
[[nodiscard]] std::string event_text(const Delta& delta);

}  // namespace schedmate::http
