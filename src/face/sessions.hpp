// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What callers of the C face hold: sessions and rounds by number, and replies by address. A number
/// or an address that is none of ours is found out without looking at what it points to.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "face/round.hpp"
#include "lab/host_estimates.hpp"
#include "settings/session.hpp"

namespace schedmate::face {

/// The environment as it was, and the session that looks into it.
class OpenSession {
 public:
  /// A copy of `variables`, as main() gets them.
  explicit OpenSession(const char* const* variables);
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;
  ~OpenSession() = default;

  [[nodiscard]] const char* const* environment() const { return pointers_.data(); }
  settings::Session session;

 private:
  std::vector<std::string> words_;
  std::vector<const char*> pointers_;
};

/// What a host that replays a trace itself asks about its jobs. One call at a time.
struct OpenEstimates {
  std::shared_ptr<const OpenSession> session;  // that they stand on
  std::unique_ptr<lab::HostEstimates> estimates;
  std::atomic_flag busy;
};

/// Any thread may call. A child that fork() makes has what its parent had at that instant.
class Sessions {
 public:
  Sessions() = default;
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions() = default;

  [[nodiscard]] std::uint64_t add(std::shared_ptr<const OpenSession> session);
  /// Null where there is none. It lives on for who has it, closed or not.
  [[nodiscard]] std::shared_ptr<const OpenSession> find(std::uint64_t number);
  /// False where there is none.
  bool remove(std::uint64_t number);

  [[nodiscard]] std::uint64_t add(std::shared_ptr<OpenEstimates> estimates);
  /// Null where there are none.
  [[nodiscard]] std::shared_ptr<OpenEstimates> estimates(std::uint64_t number);
  bool remove_estimates(std::uint64_t number);

  /// A round, until close(). It stays where it is.
  [[nodiscard]] std::uint64_t open(Round& round);
  void close(std::uint64_t number);
  /// Null unless it is open and of this thread, which alone closes it.
  [[nodiscard]] Round* round(std::uint64_t number);

  /// For the caller, who gives it back to free(); of an error with its sentence.
  [[nodiscard]] char* keep(std::string text, std::string message = "");
  /// As long as the reply is not freed; null for what is no error's.
  [[nodiscard]] const char* message_of(const char* reply);
  /// False for what is no reply, or no longer.
  bool free(const char* reply);

  /// Around fork(): no other thread is in the middle of a change.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, std::shared_ptr<const OpenSession>> open_;
  std::map<std::uint64_t, std::shared_ptr<OpenEstimates>> estimates_;
  std::map<std::uint64_t, Round*> rounds_;
  struct Reply {
    std::string text, message;
  };
  std::unordered_map<const char*, std::unique_ptr<Reply>> replies_;
};

}  // namespace schedmate::face
