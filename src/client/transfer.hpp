// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One HTTP request to a daemon: the only place that knows libcurl's names. No redirect is
/// followed and no proxy of the environment is used.

#include <chrono>
#include <cstddef>
#include <functional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "client/daemon_address.hpp"

namespace schedmate::client {

struct Call {
  std::string path;               ///< with its query, "/api/v1/jobs?limit=5"
  bool changes = false;           ///< POST; else GET
  std::string body{};             ///< JSON of a POST
  std::string idempotency_key{};  ///< equal calls with this key count as one
  std::string last_event{};       ///< of a stream: the last that was heard
};

struct Bounds {
  std::chrono::milliseconds deadline{40'000};  ///< of the whole; the daemon's own is 30 s
  std::size_t reply_bytes = std::size_t{64} << 20U;
};

struct Answered {
  int status = 0;
  std::string body;
};

/// Any status is an answer. Errors: unavailable (nobody answers), timeout, refused (a certificate),
/// bad_reply (no HTTP, or more than the bounds allow).
[[nodiscard]] Result<Answered> transfer(const DaemonAddress& address, const Call& call,
                                        const Bounds& bounds);

/// How one listens to a stream. Each function is called by the thread that listens.
struct Listening {
  std::function<bool(std::string_view part)> take;  ///< of a 200's body; false ends it
  std::function<bool()> is_over;                    ///< asked at least once a second
};

/// Until it breaks, is over, or `take` says so: that is an answer with 200 and no body. What comes
/// with another status is kept as the body. Errors: as above; a stream that is silent for 45 s,
/// three heartbeats, is unavailable.
[[nodiscard]] Result<Answered> listen(const DaemonAddress& address, const Call& call,
                                      const Listening& listening);

/// `text` as a part of a path or query.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace schedmate::client
