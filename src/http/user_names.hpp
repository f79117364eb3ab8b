// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of uids, asked on a thread of their own: a directory server that does not answer holds up
/// only those whose names are not known yet.

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <schedmate/clock.hpp>
#include <string>
#include <thread>

namespace schedmate::http {

class UserNames {
 public:
  struct Ways {
    std::function<std::string(uid_t)> ask;  ///< "" without a name; may take long
    std::function<void()> found;            ///< called when a name has come
    Clock clock;
  };
  explicit UserNames(Ways ways);
  UserNames(const UserNames&) = delete;
  UserNames& operator=(const UserNames&) = delete;
  ~UserNames();
  /// The name, "uid:1234" where there is none; nothing while it is being asked.
  [[nodiscard]] std::optional<std::string> find(uid_t uid);

 private:
  struct Known {
    std::string name;
    std::chrono::nanoseconds until;
  };
  void work(const std::stop_token& stop);

  Ways ways_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::map<uid_t, Known> known_;
  std::deque<uid_t> queue_;
  std::jthread thread_;
};

}  // namespace schedmate::http
