// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Between a store and a real Redis: passes everything on, but for one answer that is replaced.

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/pipe_signal.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

struct Lie {
  std::size_t at = 0;  ///< number of the command whose answer it replaces
  std::string bytes;
  std::chrono::milliseconds per_byte{0};  ///< drips them
  bool endless = false;                   ///< the last byte comes again and again
  bool closes = false;                    ///< and the connection ends
};

class LyingRedis {
 public:
  LyingRedis(std::string server, Lie lie) : server_(std::move(server)), lie_(std::move(lie)) {
    const std::string path = socket();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const named = reinterpret_cast<const sockaddr*>(&address);  // NOLINT: of the system
    if (::bind(listener_.number(), named, sizeof address) != 0 ||
        ::listen(listener_.number(), 4) != 0)
      throw std::runtime_error("no socket");
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  [[nodiscard]] std::string spec() const { return "redis:unix:" + socket(); }
  [[nodiscard]] std::size_t commands() const { return count_; }

 private:
  [[nodiscard]] std::string socket() const { return folder_.path("lying.sock"); }

  static bool wait(int file, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd ready{file, POLLIN, 0};
      if (::poll(&ready, 1, 5) > 0) return true;
    }
    return false;
  }

  void serve(const std::stop_token& stop) {
    const NoBrokenPipe quiet;
    while (wait(listener_.number(), stop)) {
      const Descriptor client(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::unique_ptr<redisContext, void (*)(redisContext*)> server(
          redisConnectUnix(server_.c_str()), redisFree);
      if (client && server && server->err == 0) pass_on(client.number(), *server, stop);
    }
  }

  void pass_on(int client, redisContext& server, const std::stop_token& stop) {
    const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(),
                                                                      redisReaderFree);
    std::vector<char> buffer(1U << 16U);
    while (wait(client, stop)) {
      const ssize_t got = ::recv(client, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      redisReaderFeed(reader.get(), buffer.data(), static_cast<std::size_t>(got));
      void* raw = nullptr;
      while (redisReaderGetReply(reader.get(), &raw) == REDIS_OK && raw != nullptr) {
        const std::unique_ptr<void, void (*)(void*)> guard(raw, freeReplyObject);
        if (!answer(client, *static_cast<const redisReply*>(raw), server, stop)) return;
      }
    }
  }

  /// False when the connection ends.
  bool answer(int client, const redisReply& command, redisContext& server,
              const std::stop_token& stop) {
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < command.elements; ++i) {
      words.push_back(command.element[i]->str);
      sizes.push_back(static_cast<std::size_t>(command.element[i]->len));
    }
    const std::unique_ptr<void, void (*)(void*)> guard(
        redisCommandArgv(&server, static_cast<int>(words.size()), words.data(), sizes.data()),
        freeReplyObject);
    if (!guard) return false;
    if (count_++ == lie_.at) return lie(client, stop);
    return send(client, encoded(*static_cast<const redisReply*>(guard.get())));
  }

  [[nodiscard]] bool lie(int client, const std::stop_token& stop) const {
    if (lie_.per_byte > std::chrono::milliseconds(0)) {
      for (const char c : lie_.bytes) {
        if (stop.stop_requested() || !send(client, std::string(1, c))) return false;
        std::this_thread::sleep_for(lie_.per_byte);  // clock: a slow server
      }
    } else if (!send(client, lie_.bytes)) {
      return false;
    }
    const std::string more(1U << 16U, lie_.bytes.empty() ? 'x' : lie_.bytes.back());
    while (lie_.endless && !stop.stop_requested())
      if (!send(client, more)) return false;
    return !lie_.closes;
  }

  static bool send(int client, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  static std::string encoded(const redisReply& reply) {
    const std::string text =
        reply.str == nullptr ? "" : std::string(reply.str, static_cast<std::size_t>(reply.len));
    switch (reply.type) {
      case REDIS_REPLY_INTEGER:
        return ":" + std::to_string(reply.integer) + "\r\n";
      case REDIS_REPLY_STATUS:
        return "+" + text + "\r\n";
      case REDIS_REPLY_ERROR:
        return "-" + text + "\r\n";
      case REDIS_REPLY_STRING:
        return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
      case REDIS_REPLY_ARRAY: {
        std::string all = "*" + std::to_string(reply.elements) + "\r\n";
        for (std::size_t i = 0; i < reply.elements; ++i) all += encoded(*reply.element[i]);
        return all;
      }
      default:
        return "$-1\r\n";
    }
  }

  Scratch folder_;
  std::string server_;
  Lie lie_;
  std::atomic<std::size_t> count_{0};
  Descriptor listener_;
  std::jthread thread_;
};

}  // namespace schedmate::testing
