// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A stream of events (text/event-stream) as it comes in, and one that goes on where it broke off.

#include <functional>
#include <optional>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "client/transfer.hpp"

namespace schedmate::client {

struct HeardEvent {
  std::string id;    ///< the last that the stream has named
  std::string kind;  ///< "job", "action", "full", ...
  std::string data;  ///< lines joined by line ends
};

/// Parts of any size in, whole events out. One line has at most 1 MiB, an event 4.
class EventReader {
 public:
  /// False: it is out of these bounds, or `heard` wants no more.
  bool take(std::string_view part, const std::function<bool(const HeardEvent&)>& heard);
  [[nodiscard]] bool is_broken() const { return broken_; }
  /// A new connection: what was incomplete will be told again.
  void begin_anew();
  [[nodiscard]] const std::string& last_id() const { return event_.id; }

 private:
  bool take_line(std::string_view line, const std::function<bool(const HeardEvent&)>& heard);
  std::string line_;
  HeardEvent event_;
  bool has_data_ = false, broken_ = false, skips_line_end_ = false;
};

struct Following {
  std::function<bool(const HeardEvent&)> heard;      ///< false ends it
  std::function<void(const std::string&)> on_break;  ///< it will connect again: why it must
  std::optional<std::chrono::nanoseconds> lasts{};   ///< empty: until `heard` ends it
  Clock clock;
};

/// Listens to /api/v1/events, and connects again where the stream breaks. Errors: those of the
/// first connection; later only what another try cannot mend (the daemon's own, as a revoked
/// token's).
[[nodiscard]] Result<void> follow_events(const DaemonAddress& address, const Following& following);

}  // namespace schedmate::client
