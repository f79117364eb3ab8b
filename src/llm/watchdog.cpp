// SPDX-License-Identifier: Apache-2.0
#include "llm/watchdog.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>

namespace schedmate::llm {

Watchdog::Watchdog(std::chrono::milliseconds limit)
    : thread_([this, limit](const std::stop_token& stop) { wait(stop, limit); }) {}

Watchdog::~Watchdog() {
  thread_.request_stop();
  thread_.join();
  if (copy_ >= 0) ::close(copy_);
}

void Watchdog::guard(int socket) {
  const std::lock_guard lock(mutex_);
  if (copy_ >= 0) ::close(copy_);
  copy_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
  if (expired_) shut();
}

bool Watchdog::expired() const {
  const std::lock_guard lock(mutex_);
  return expired_;
}

void Watchdog::wait(const std::stop_token& stop, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, stop, limit, [] { return false; });
  if (stop.stop_requested()) return;
  expired_ = true;
  shut();
}

void Watchdog::shut() const {
  if (copy_ >= 0) ::shutdown(copy_, SHUT_RDWR);
}

NoBrokenPipe::NoBrokenPipe() {
  sigset_t pipe, pending, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  was_blocked_ = sigismember(&before, SIGPIPE) == 1;
}

NoBrokenPipe::~NoBrokenPipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  if (!was_pending_) sigtimedwait(&pipe, nullptr, &at_once);
  if (!was_blocked_) pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

}  // namespace schedmate::llm
