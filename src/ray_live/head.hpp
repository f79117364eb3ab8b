// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The head of a Ray cluster, as its dashboard answers: one HTTP request at a time, with a deadline
/// for all that an operation asks of it.

#include <chrono>
#include <schedmate/clock.hpp>
#include <schedmate/connector.hpp>
#include <string>

#include "llm/ask_server.hpp"

namespace schedmate::ray_live {

class Head {
 public:
  /// `token`: of RAY_AUTH_MODE=token; "": none.
  Head(llm::Url url, std::string token, Clock clock)
      : target_{.url = std::move(url), .token = std::move(token), .proxy = {}, .ca_file = {}},
        clock_(std::move(clock)) {}

  /// Another server that takes the same token.
  [[nodiscard]] Head elsewhere(llm::Url url) const {
    return {std::move(url), target_.token, clock_};
  }

  /// Until when an operation that begins now may last.
  using Until = std::chrono::nanoseconds;
  [[nodiscard]] Until from_now(Connector::Deadline within) const { return clock_.now() + within; }
  [[nodiscard]] std::chrono::milliseconds left(Until until) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(until - clock_.now());
  }
  [[nodiscard]] SimTime wall() const { return clock_.wall(); }
  /// Waits, unless that would be beyond `until`.
  [[nodiscard]] bool wait(std::chrono::milliseconds time, Until until) const;

  /// Any status but those of a token that is missing or wrong is a reply. Errors: those of
  /// llm::ask_server(); refused (the token).
  [[nodiscard]] Result<llm::HttpReply> ask(const llm::HttpRequest& request, Until until) const;
  /// The body of a 200. Errors: those of ask(); unavailable for another status; not_found for 404.
  [[nodiscard]] Result<std::string> get(const std::string& path, Until until) const;

 private:
  llm::HttpTarget target_;
  Clock clock_;
};

/// The token in a file that only its owner and his group may read. Errors: refused, unavailable,
/// invalid (it is empty).
[[nodiscard]] Result<std::string> read_token(const std::string& path);

/// The error of a reading that failed: invalid (it cannot be read), else unavailable.
[[nodiscard]] tl::unexpected<Error> unread(const Error& error);
/// The first line of what a server says, and the last one where that is a traceback's; cut.
[[nodiscard]] std::string said(const std::string& body);

}  // namespace schedmate::ray_live
