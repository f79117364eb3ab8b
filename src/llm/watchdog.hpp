// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A total deadline for a blocking client: when the time is over, its socket is shut down, whatever
/// it waits for (connect, handshake, headers, a dripping body).

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace schedmate::llm {

class Watchdog {
 public:
  explicit Watchdog(std::chrono::milliseconds limit);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// The client's socket; the last one counts. Shut down at once when the time is over already.
  void guard(int socket);
  [[nodiscard]] bool expired() const;

 private:
  void wait(const std::stop_token& stop, std::chrono::milliseconds limit);
  void shut() const;

  mutable std::mutex mutex_;
  std::condition_variable_any ended_;
  int copy_ = -1;  ///< of the socket's descriptor: its number cannot be taken by another file
  bool expired_ = false;
  std::jthread thread_;
};

/// While it lives, this thread gets no SIGPIPE: a write into a closed socket is an error code.
class NoBrokenPipe {
 public:
  NoBrokenPipe();
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;
  ~NoBrokenPipe();

 private:
  bool was_pending_ = false;
  bool was_blocked_ = false;
};

}  // namespace schedmate::llm
