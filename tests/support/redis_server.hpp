// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A real redis-server on a unix socket in a scratch folder, which ends with the test. Every write
/// is on the disk before it is acknowledged. A test fails where there is no such program.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <schedmate/store.hpp>
#include <string>
#include <thread>

#include "tests/support/scratch.hpp"

namespace schedmate::testing {

class RedisServer {
 public:
  explicit RedisServer(std::string password = "") : password_(std::move(password)) { start(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() { stop(SIGKILL); }

  void start() {
    process_ = ::fork();
    if (process_ == 0) become_server();
    // Until it has read its log; a busy machine takes its time.
    for (int i = 0; i < 3000; ++i) {
      const auto store = open_store(spec());
      if (store || store.error().code != ErrorCode::unavailable) return;
      if (::waitpid(process_, nullptr, WNOHANG) == process_) {
        process_ = 0;
        FAIL("redis-server ended at once: is it installed? (scripts/deps.sh test)");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // clock: bounded wait
    }
    stop(SIGKILL);
    FAIL("redis-server does not answer");
  }
  void stop(int signal) {
    if (process_ <= 0) return;
    ::kill(process_, signal);
    ::waitpid(process_, nullptr, 0);
    std::filesystem::remove(socket());
    process_ = 0;
  }
  [[nodiscard]] std::string socket() const { return folder_.path("redis.sock"); }
  [[nodiscard]] std::string spec() const { return "redis:unix:" + socket(); }

 private:
  [[noreturn]] void become_server() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    const auto folder = folder_.path();
    const auto path = socket();
    ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path.c_str(), "--dir",
             folder.c_str(), "--appendonly", "yes", "--appendfsync", "always", "--save", "",
             "--requirepass", password_.c_str(), nullptr);
    ::_exit(127);
  }
  Scratch folder_;
  std::string password_;
  pid_t process_ = 0;
};

}  // namespace schedmate::testing
