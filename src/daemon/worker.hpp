// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A thread that does one thing after another, and the queue in front of one.

#include <sys/resource.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace schedmate::daemon {

/// What others have left for a thread. Any thread may put.
template <class Value>
class Inbox {
 public:
  void put(Value value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    filled_.notify_one();
  }
  /// All that is there, at the latest after `within`; may be nothing.
  [[nodiscard]] std::deque<Value> take(std::chrono::milliseconds within) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, within, [&] { return !values_.empty(); });
    return std::exchange(values_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Value> values_;
};

class Worker {
 public:
  /// `nice`: so much less than others it is in a hurry, 0 to 19.
  explicit Worker(int nice = 0)
      : thread_([this, nice](const std::stop_token& stop) {
          if (nice > 0) (void)::setpriority(PRIO_PROCESS, 0, nice);  // on Linux of this thread
          run(stop);
        }) {}

  void ask(std::function<void()> work) { inbox_.put(std::move(work)); }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested())
      for (const auto& work : inbox_.take(std::chrono::milliseconds(100)))
        if (!stop.stop_requested()) work();
  }
  Inbox<std::function<void()>> inbox_;
  std::jthread thread_;  // last: it uses what stands above
};

}  // namespace schedmate::daemon
