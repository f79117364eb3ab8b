// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A server on loopback that knows no protocol: it reads what comes and sends the bytes it was
/// given.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/descriptor.hpp"

namespace schedmate::testing {

struct RawAnswer {
  std::string first;                     ///< sent once
  std::string again;                     ///< sent until the client goes away; "" = nothing
  std::chrono::milliseconds between{0};  ///< two of those
};

class RawServer {
 public:
  explicit RawServer(RawAnswer answer) : answer_(std::move(answer)) {
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const named = reinterpret_cast<sockaddr*>(&address);  // NOLINT: of the system
    socklen_t size = sizeof address;
    if (::bind(listener_.number(), named, size) != 0 || ::listen(listener_.number(), 4) != 0 ||
        ::getsockname(listener_.number(), named, &size) != 0)
      throw std::runtime_error("no socket");
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
  }

 private:
  static bool wait(int file, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd ready{file, POLLIN, 0};
      if (::poll(&ready, 1, 5) > 0) return true;
    }
    return false;
  }
  static bool send(int client, const std::string& bytes) {
    return ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
  }
  void serve(const std::stop_token& stop) {
    while (wait(listener_.number(), stop)) {
      const Descriptor client(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      std::array<char, 4096> request{};
      if (!wait(client.number(), stop)) return;
      if (::recv(client.number(), request.data(), request.size(), 0) <= 0) continue;
      bool there = send(client.number(), answer_.first);
      while (there && !answer_.again.empty() && !stop.stop_requested()) {
        std::this_thread::sleep_for(answer_.between);  // clock: a slow server
        there = send(client.number(), answer_.again);
      }
    }
  }

  RawAnswer answer_;
  Descriptor listener_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace schedmate::testing
