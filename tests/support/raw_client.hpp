// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A client that knows no protocol: it sends the bytes it is given and reads what comes.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::testing {

class RawClient {
 public:
  /// `from`: an address of this machine.
  explicit RawClient(int port, in_addr_t from = INADDR_LOOPBACK)
      : file_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(from);
    const auto* const own = reinterpret_cast<const sockaddr*>(&address);  // NOLINT: of the system
    if (from != INADDR_LOOPBACK && ::bind(file_.number(), own, sizeof address) != 0)
      throw std::runtime_error("no address");
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    connect(address);
  }
  explicit RawClient(const std::string& path)
      : file_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(static_cast<void*>(address.sun_path), path.c_str(), path.size() + 1);
    connect(address);
  }
  /// False: the other end takes no more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(file_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(file_.number(), SHUT_WR); }
  /// All that comes until the other end closes, or `until` is among it, or the time is over.
  std::string read(std::string_view until = "",
                   std::chrono::milliseconds patience = testing::patience) {
    const auto end = std::chrono::steady_clock::now() + patience;  // clock: bounds the wait
    while (until.empty() || text_.find(until) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());  // clock: bounds the wait
      pollfd ready{file_.number(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
      std::array<char, 16384> part{};
      const ssize_t got = ::recv(file_.number(), part.data(), part.size(), 0);
      if (got <= 0) {
        closed_ = true;
        break;
      }
      text_.append(part.data(), static_cast<std::size_t>(got));
    }
    return text_;
  }
  [[nodiscard]] bool is_closed() const { return closed_; }  ///< as read() found it
  [[nodiscard]] int number() const { return file_.number(); }

 private:
  template <class Address>
  void connect(const Address& address) {
    const auto* const named = reinterpret_cast<const sockaddr*>(&address);  // NOLINT: of the system
    if (!file_ || ::connect(file_.number(), named, sizeof address) != 0)
      throw std::runtime_error("no connection");
  }

  Descriptor file_;
  std::string text_;
  bool closed_ = false;
};

/// 200 of "HTTP/1.1 200 OK"; 0: there is no reply.
inline int status_of(std::string_view reply) {
  constexpr std::string_view version = "HTTP/1.1 ";
  if (!reply.starts_with(version) || reply.size() < version.size() + 3) return 0;
  const std::string_view digits = reply.substr(version.size(), 3);
  return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

inline std::string body_of(const std::string& reply) {
  const std::size_t end = reply.find("\r\n\r\n");
  return end == std::string::npos ? "" : reply.substr(end + 4);
}

}  // namespace schedmate::testing
