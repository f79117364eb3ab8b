// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Requests of a probe, one at a time, with a deadline for the whole and a bound on the answer.

#include <chrono>
#include <memory>
#include <schedmate/result.hpp>
#include <string>

namespace schedmate::probe {

struct ClientReply {
  int status = 0;
  std::string body;
};

/// Where a daemon listens: "unix:PATH" or "http://HOST:PORT". Errors: invalid.
[[nodiscard]] Result<void> check_address(const std::string& address);

class Client {
 public:
  Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Any status is a reply. Errors: unavailable (no connection, too large an answer), timeout.
  Result<ClientReply> post(const std::string& address, const std::string& path,
                           const std::string& body, std::chrono::milliseconds deadline);
  Result<ClientReply> get(const std::string& url, std::chrono::milliseconds deadline);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace schedmate::probe
