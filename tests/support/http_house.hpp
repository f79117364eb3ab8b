// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A front door with a small daemon behind it: one thread that owns three jobs (7 of ann, 8 of bob,
/// 9 of this user) and answers what was queued.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/document.hpp"
#include "http/events.hpp"
#include "http/routes.hpp"
#include "http/server.hpp"
#include "http/tokens.hpp"
#include "settings/clock.hpp"
#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

/// What a reply says; another status than 200 is an exception.
Document answered(const std::string& reply);

class HttpHouse {
 public:
  using Change = void (*)(http::ServerOptions&);
  explicit HttpHouse(Change change = [](http::ServerOptions&) {}) {
    const auto add = [&](const char* user, Role role) {
      return http::add_token(tokens_file(), {user, role, std::string("of ") + user, 0}).value();
    };
    ann = add("ann", Role::owner);
    bob = add("bob", Role::owner);
    viewer = add("vera", Role::viewer);
    op = add("olga", Role::cluster_operator);
    stale = add("stan", Role::cluster_operator);
    need(http::revoke_token(tokens_file(), "of stan"));
    log = std::make_shared<http::EventLog>(http::EventBounds{.events = 64});
    http::ServerOptions options;
    options.unix_path = socket();
    options.tcp = "127.0.0.1:0";
    options.tokens_file = tokens_file();
    options.access.operators = {};
    options.clock = settings::machine_clock();
    options.user_name = [](uid_t uid) { return uid == ::geteuid() ? "me" : ""; };
    options.events = log;
    options.handler = [this](http::Request request, http::Answer answer) {
      const std::scoped_lock lock(mutex_);
      queue_.emplace_back(std::move(request), std::move(answer));
      come_.notify_one();
    };
    change(options);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    server = need(http::Server::start(options));
  }
  ~HttpHouse() {
    server.reset();
    thread_.request_stop();
    come_.notify_all();
  }
  HttpHouse(const HttpHouse&) = delete;
  HttpHouse& operator=(const HttpHouse&) = delete;

  [[nodiscard]] std::string socket() const { return folder_.path("api.sock"); }
  [[nodiscard]] std::string tokens_file() const { return folder_.path("tokens"); }
  /// Requests that wait for an answer which never comes.
  [[nodiscard]] int held() const { return held_; }
  [[nodiscard]] RawClient knock() const { return RawClient(server->tcp_port()); }

  /// The whole reply by TCP; `more` are header lines.
  std::string ask(const std::string& line, const std::string& token = "",
                  const std::string& more = "", const std::string& body = "") const {
    RawClient client = knock();
    client.send(line + " HTTP/1.1\r\nHost: localhost\r\n" +
                (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + more +
                (body.empty() ? ""
                              : "Content-Type: application/json\r\nContent-Length: " +
                                    std::to_string(body.size()) + "\r\n") +
                "\r\n" + body);
    return client.read();
  }

  std::string ann, bob, viewer, op, stale;  ///< tokens
  std::shared_ptr<http::EventLog> log;
  std::unique_ptr<http::Server> server;

 private:
  void work(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      if (!come_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      auto [request, answer] = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      handle(std::move(request), std::move(answer));
    }
  }
  void handle(http::Request request, http::Answer answer);

  Scratch folder_;
  std::mutex mutex_;
  std::condition_variable_any come_;
  std::deque<std::pair<http::Request, http::Answer>> queue_;
  std::deque<http::Answer> kept_;
  std::atomic<int> held_ = 0;
  std::jthread thread_;
};

}  // namespace schedmate::testing
