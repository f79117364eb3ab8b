// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of uids, asked on a thread of their own: a directory server that does not answer holds up
/// only those whose names are not known yet, and never the end.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <schedmate/clock.hpp>
#include <string>

namespace schedmate::http {

/// One thread may call.
class UserNames {
 public:
  /// They own what they use: the thread that asks may outlive the UserNames.
  struct Ways {
    std::function<std::string(uid_t)> ask;  ///< "" without a name; may take long
    std::function<void()> found;            ///< called by the other thread when a name has come
    Clock clock;
  };
  explicit UserNames(Ways ways);
  UserNames(const UserNames&) = delete;
  UserNames& operator=(const UserNames&) = delete;
  ~UserNames();
  /// The name, "uid:1234" where there is none or it is not printable; nothing while it is being
  /// asked. It is asked again after ten minutes, and served for an hour at most.
  [[nodiscard]] std::optional<std::string> find(uid_t uid);

 private:
  struct Book;
  std::shared_ptr<Book> book_;  ///< shared with the thread
};

}  // namespace schedmate::http
