// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A server on a unix socket that reads lines and answers them as a test says, well or badly.

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/descriptor.hpp"

namespace schedmate::testing {

class LineServer {
 public:
  struct Answer {
    std::string bytes;                     ///< sent as they are
    bool closes = false;                   ///< and the connection ends
    std::chrono::milliseconds between{0};  ///< > 0: byte by byte, this far apart
  };
  using Script = std::function<Answer(const std::string& line)>;

  LineServer(const std::string& path, Script script) : script_(std::move(script)) {
    listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, static_cast<char*>(address.sun_path));
    auto* const named = reinterpret_cast<sockaddr*>(&address);  // NOLINT: of the system
    if (::bind(listener_.number(), named, sizeof address) != 0 ||
        ::listen(listener_.number(), 4) != 0)
      throw std::runtime_error("no socket");
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

 private:
  static bool wait(int file, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd ready{file, POLLIN, 0};
      if (::poll(&ready, 1, 5) > 0) return true;
    }
    return false;
  }
  static bool send(int client, std::string_view bytes) {
    return ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
  }
  static bool send(int client, const Answer& answer, const std::stop_token& stop) {
    if (answer.between.count() == 0) return send(client, answer.bytes);
    for (const char each : answer.bytes) {
      if (stop.stop_requested() || !send(client, std::string_view(&each, 1))) return false;
      std::this_thread::sleep_for(answer.between);  // clock: a slow server
    }
    return true;
  }
  void serve(const std::stop_token& stop) {
    while (wait(listener_.number(), stop)) {
      const Descriptor client(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string text;
      std::array<char, 4096> part{};
      for (bool open = true; open && wait(client.number(), stop);) {
        const auto count = ::recv(client.number(), part.data(), part.size(), 0);
        if (count <= 0) break;
        text.append(part.data(), static_cast<std::size_t>(count));
        for (std::size_t end = 0; open && (end = text.find('\n')) != std::string::npos;) {
          const Answer answer = script_(text.substr(0, end));
          text.erase(0, end + 1);
          open = send(client.number(), answer, stop) && !answer.closes;
        }
      }
    }
  }

  Script script_;
  Descriptor listener_;
  std::jthread thread_;
};

}  // namespace schedmate::testing
