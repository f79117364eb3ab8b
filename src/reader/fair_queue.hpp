// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who is read for next. Users take turns, and each has quotas, so that no one's requests, however
/// many and however bad, keep another's waiting. Values: no clock, no processes. One thread.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate::reader {

using Instant = std::chrono::nanoseconds;  ///< of Clock::now()

struct Quotas {
  std::size_t children = 8, children_of_user = 2;
  std::size_t waiting = 256, waiting_of_user = 16;
  std::size_t waiting_bytes = std::size_t{32} << 20U;
  /// Of one user, within a minute; over it he is refused until enough of the minute is over.
  std::chrono::milliseconds cpu_per_minute{60'000};
  std::uint64_t bytes_per_minute = std::uint64_t{4} << 30U;
  /// From the request to its answer.
  std::chrono::milliseconds deadline{20'000};
};

/// A request that has no child yet.
struct Waiting {
  std::uint64_t client = 0;  ///< who asked
  std::uint64_t id = 0;      ///< the client's
  std::string user{};
  std::string line{};  ///< the request
  Instant due{};       ///< when its answer comes too late
};

/// What a child has used.
struct Used {
  std::chrono::microseconds cpu{0};
  std::uint64_t bytes = 0;  ///< read from a disk or a share
};

class FairQueue {
 public:
  explicit FairQueue(const Quotas& quotas) : quotas_(quotas) {}

  /// Errors: unavailable (too many wait; the user has used what he may; says for how long).
  Result<void> add(Waiting waiting, Instant now);
  /// The next request that may have a child, which counts from here on; users in turn.
  std::optional<Waiting> next(Instant now);
  /// A child of this user waits for a model: others may take its place until it goes on. As many
  /// may wait so as may have a child. False: too many do.
  bool pause(const std::string& name);
  void go_on(const std::string& name);
  /// A child of this user is gone, which did not wait.
  void ended(const std::string& name, const Used& used, Instant now);
  /// Those whose time is over.
  std::vector<Waiting> late(Instant now);
  /// Nobody waits for the answers of this client any more.
  void forget_client(std::uint64_t client);

  [[nodiscard]] std::size_t waiting() const { return count_; }
  /// Those that wait for a model are not counted.
  [[nodiscard]] std::size_t children() const { return children_; }
  [[nodiscard]] std::size_t users() const { return users_.size(); }

 private:
  struct User {
    std::deque<Waiting> waiting;
    std::size_t children = 0, paused = 0;
    double cpu_s = 0, bytes = 0;  ///< used, less what the time since has paid back
    Instant paid{};               ///< until when
  };
  void pay_back(User& user, Instant now) const;
  [[nodiscard]] bool has_used_up(const User& user) const;
  [[nodiscard]] double seconds_left(const User& user) const;
  Waiting take_front(User& user);
  void prune(Instant now);

  Quotas quotas_;
  std::map<std::string, User> users_;
  std::deque<std::string> turns_;  ///< users with waiting requests, each once
  std::size_t count_ = 0, bytes_ = 0, children_ = 0, paused_ = 0;
};

}  // namespace schedmate::reader
