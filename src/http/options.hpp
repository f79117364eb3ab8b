// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a server is started with: doors, bounds, times, and whom it asks for answers.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <schedmate/clock.hpp>
#include <string>
#include <utility>
#include <vector>

#include "http/guard.hpp"
#include "http/head.hpp"
#include "http/metrics.hpp"
#include "http/peers.hpp"
#include "http/request.hpp"

namespace schedmate::http {

class Exchange;

/// A promise to answer one request. The first answer counts. Without any until it is destroyed, the
/// caller gets 500; when the deadline is over, 504.
class Answer {
 public:
  Answer(std::shared_ptr<Exchange> exchange, std::shared_ptr<void> room)
      : exchange_(std::move(exchange)), room_(std::move(room)) {}
  Answer(Answer&& other) noexcept = default;
  Answer& operator=(Answer&& other) noexcept {
    std::swap(exchange_, other.exchange_);
    std::swap(room_, other.room_);
    return *this;
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer();
  /// False: it is too late, or it was answered before.
  bool operator()(Reply reply);

 private:
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<void> room_;  ///< its place among the requests that handlers hold
};

/// Called by the threads that read: it must only queue, or answer what it knows.
using Handler = std::function<void(Request, Answer)>;

struct Times {
  std::chrono::milliseconds head{10'000};       ///< until the head is whole
  std::chrono::milliseconds body{20'000};       ///< from there until the body is
  std::chrono::milliseconds answer{30'000};     ///< from there until the handler answers
  std::chrono::milliseconds sending{60'000};    ///< from there until the reply is taken
  std::chrono::milliseconds heartbeat{15'000};  ///< between two of a stream
  std::chrono::milliseconds login_delay{2000};  ///< of a wrong token after many, at most
  std::chrono::seconds idle{30};                ///< without a byte, in the steps that move some
};

struct Readiness {
  bool ready = true;
  std::vector<std::string> reasons{};
};

struct ServerOptions {
  std::string unix_path{};  ///< "": no such door
  std::string tcp{};        ///< "127.0.0.1:8642", "[::1]:0"; "": no such door
  AccessRules access{};
  std::string tokens_file{};  ///< "": nobody comes in by a token
  HeadLimits head{};
  PeerBounds bounds{};
  Times times{};
  std::size_t most_asked = 256;  ///< requests that handlers hold at a time; over it 503
  unsigned threads = 2;          ///< that read and write requests; streams have one of their own
  Clock clock{};
  /// The name of a uid, "" without one. It may take long, or hang: it runs on a thread of its own,
  /// which nobody waits for. So it owns what it uses; it may be called after the server is gone.
  std::function<std::string(uid_t)> user_name{};
  Handler handler{};
  /// What streams follow: replies that carry it. Null: there are none.
  std::shared_ptr<EventLog> events{};
  /// For /readyz and /metrics, by the threads that read: they must not block. May be null.
  std::function<Readiness()> ready{};
  std::function<std::vector<Metric>()> metrics{};
};

}  // namespace schedmate::http
