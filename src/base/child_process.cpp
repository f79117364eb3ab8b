// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

namespace schedmate {

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : number_(std::exchange(other.number_, -1)), status_(other.status_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(status_, other.status_);
  return *this;
}

void ChildProcess::stop() {
  constexpr std::chrono::milliseconds to_die{500};
  if (number_ <= 0) return;
  ::kill(number_, SIGKILL);
  static_cast<void>(ended_by(Deadline(to_die)));
  number_ = -1;
}

bool ChildProcess::ended_by(const Deadline& deadline) {
  if (number_ <= 0) return true;
  const Descriptor child(static_cast<int>(::syscall(SYS_pidfd_open, number_, 0U)));
  for (;;) {
    const bool over = child ? !deadline.wait_readable(child.number()) : deadline.passed();
    const pid_t ended = ::waitpid(number_, &status_, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) {
      number_ = -1;
      return true;
    }
    if (over) return false;
    if (!child) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // before Linux 5.3
  }
}

void keep_only(int file) {
  const auto kept = static_cast<unsigned>(file);
  if (kept > 0) ::syscall(SYS_close_range, 0U, kept - 1, 0U);
  ::syscall(SYS_close_range, kept + 1, ~0U, 0U);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
}

}  // namespace schedmate
