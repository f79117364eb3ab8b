// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What door and carriers share: the exchanges that are open, by the descriptor of their
/// connection, and what becomes of a request whose last byte has come.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "http/exchange.hpp"
#include "http/metrics.hpp"
#include "http/options.hpp"
#include "http/peers.hpp"

namespace schedmate::http {

using ExchangePointer = std::shared_ptr<Exchange>;

class Traffic {
 public:
  explicit Traffic(const ServerOptions& options);

  [[nodiscard]] const ServerOptions& options() const { return options_; }
  [[nodiscard]] Counters& counters() { return counters_; }
  [[nodiscard]] Peers& peers() { return *peers_; }
  [[nodiscard]] std::chrono::nanoseconds now() const { return options_.clock.now(); }

  // The door's thread.
  void open(int file, ExchangePointer exchange);
  /// Minds deadlines: ends what takes too long, answers 504 where no handler did, sends heartbeats.
  void sweep();
  /// Streams as they are now.
  [[nodiscard]] std::vector<ExchangePointer> streams() const;
  /// Ends the streams and cuts the bodies that came in by none of these.
  void keep_tokens(const std::vector<Token>& tokens) const;

  // The carriers' threads.
  [[nodiscard]] ExchangePointer find(int file) const;
  void close(int file, const Exchange* exchange);
  /// The body is there. True: so is the reply; false: the handler was asked, the exchange waits.
  [[nodiscard]] bool dispatch(const ExchangePointer& exchange);

  /// Answers and ends everything, waits `patience` for it to be sent, and cuts the rest.
  void end(std::chrono::nanoseconds patience);

 private:
  [[nodiscard]] std::optional<Reply> standing_reply(const Request& request) const;
  /// Why it is none, or nothing and `json` is set.
  [[nodiscard]] std::optional<Reply> read_body(Request& request);
  using Open = std::pair<int, ExchangePointer>;  ///< the number of its connection
  [[nodiscard]] std::vector<Open> all() const;
  void cut(int file, const Exchange& exchange) const;

  ServerOptions options_;
  Counters counters_;
  std::shared_ptr<Peers> peers_;
  std::shared_ptr<std::atomic<std::size_t>> asked_;  ///< requests that handlers hold
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::map<int, ExchangePointer> open_;
};

}  // namespace schedmate::http
