// SPDX-License-Identifier: Apache-2.0
#include "client/event_reader.hpp"

#include <algorithm>

#include "client/ask_daemon.hpp"

namespace schedmate::client {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
constexpr std::size_t largest_event = std::size_t{4} << 20U;
constexpr std::chrono::seconds first_pause{1}, longest_pause{10};

bool may_mend_itself(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout;
}

/// One connection's life. Errors: those of listen() and the daemon's; unavailable when it ended.
class Follower {
 public:
  Follower(const DaemonAddress& address, const Following& following)
      : address_(address), following_(following), began_(following.clock.now()) {}

  Result<void> run() {
    auto pause = first_pause;
    while (!is_over()) {
      reader_.begin_anew();
      heard_ = false;
      const Error error = connect();
      if (ended_ || is_over()) return {};
      if (reader_.is_broken())
        return fail(ErrorCode::bad_reply,
                    address_.text() + ": what answers there sends events that are too large");
      if (!may_mend_itself(error) || !was_there_) return tl::unexpected(error);
      if (heard_) pause = first_pause;
      following_.on_break(error.message);
      rest(pause);
      pause = std::min(2 * pause, longest_pause);
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_over() const {
    return following_.lasts && following_.clock.now() - began_ >= *following_.lasts;
  }

  Error connect() {
    const Call call{.path = "/api/v1/events", .last_event = reader_.last_id()};
    const auto answered = listen(address_, call,
                                 {.take = [this](std::string_view part) { return take(part); },
                                  .is_over = [this] { return is_over(); }});
    if (!answered) return answered.error();
    if (answered->status != 200) return error_of(address_, *answered);
    return {ErrorCode::unavailable, address_.text() + ": the stream of events ended"};
  }

  bool take(std::string_view part) {
    was_there_ = heard_ = true;
    return reader_.take(part, [this](const HeardEvent& event) {
      ended_ = !following_.heard(event);
      return !ended_;
    });
  }

  void rest(std::chrono::nanoseconds pause) {
    if (following_.lasts)
      pause = std::min(pause, *following_.lasts - (following_.clock.now() - began_));
    if (pause > std::chrono::nanoseconds(0)) following_.clock.sleep(pause);
  }

  const DaemonAddress& address_;
  const Following& following_;
  std::chrono::nanoseconds began_;
  EventReader reader_;
  bool was_there_ = false, heard_ = false, ended_ = false;
};

}  // namespace

void EventReader::begin_anew() {
  line_.clear();
  event_.kind.clear();
  event_.data.clear();
  has_data_ = skips_line_end_ = false;
}

bool EventReader::take(std::string_view part, const std::function<bool(const HeardEvent&)>& heard) {
  for (const char c : part) {
    if (c == '\n' && std::exchange(skips_line_end_, false)) continue;
    skips_line_end_ = c == '\r';
    if (c != '\n' && c != '\r') {
      line_ += c;
      broken_ = broken_ || line_.size() > longest_line;
      if (broken_) return false;
      continue;
    }
    if (!take_line(line_, heard)) return false;
    line_.clear();
  }
  return true;
}

bool EventReader::take_line(std::string_view line,
                            const std::function<bool(const HeardEvent&)>& heard) {
  if (line.empty()) {
    const bool goes_on = !has_data_ || heard(event_);
    event_.kind.clear();
    event_.data.clear();
    has_data_ = false;
    return goes_on;
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "id") event_.id = value;
  if (name == "event") event_.kind = value;
  if (name == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
    broken_ = event_.data.size() > largest_event;
  }
  return !broken_;
}

Result<void> follow_events(const DaemonAddress& address, const Following& following) {
  return Follower(address, following).run();
}

}  // namespace schedmate::client
