// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One listener of an EventLog. It keeps no events of its own: what it has not sent yet stays in
/// the log, and when the log has dropped it, the listener is told `full`.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "http/events.hpp"
#include "http/exchange.hpp"
#include "http/metrics.hpp"

namespace schedmate::http {

class Stream {
 public:
  Stream(Counters& counters, std::shared_ptr<Exchange> exchange, std::shared_ptr<EventLog> log);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { --counters_.listeners; }
  /// The next bytes of the stream; 0: none now, and the exchange waits until it is woken; nothing:
  /// the stream is at its end.
  [[nodiscard]] std::optional<std::size_t> read(std::span<char> into);

 private:
  void refill();

  Counters& counters_;
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<EventLog> log_;
  Caller caller_;
  std::uint64_t after_ = 0;
  std::string text_;  ///< to be sent from `at_` on
  std::size_t at_ = 0;
};

}  // namespace schedmate::http
