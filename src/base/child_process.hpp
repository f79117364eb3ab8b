// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A forked child seen from its parent: it ends with this value. One that waits inside the kernel
/// for a file system or a driver does not even end by SIGKILL; it is left behind then, so that its
/// parent never waits for it.

#include <sys/types.h>

#include "base/deadline.hpp"

namespace schedmate {

class ChildProcess {
 public:
  explicit ChildProcess(pid_t number = -1) : number_(number) {}
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { stop(); }

  /// Kills it unless it has ended.
  void stop();
  /// Waits for its end; false when it is still there at the deadline.
  bool ended_by(const Deadline& deadline);
  /// As waitpid() gives it; 0 until it has ended.
  [[nodiscard]] int status() const { return status_; }

 private:
  pid_t number_;  ///< -1: none, or ended
  int status_ = 0;
};

/// In a child that may wait for ever: it holds nothing open but `file`, so that nobody else waits
/// with it, and the signals that end a program end it.
void keep_only(int file);

}  // namespace schedmate
