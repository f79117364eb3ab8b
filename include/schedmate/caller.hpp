// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who asks, and with what role: a value that goes along with a request wherever an answer depends
/// on it. On the command line the owner of the state folder is the operator. A daemon knows its
/// callers by their uid or token.

#include <cstdint>
#include <string>
#include <string_view>

namespace schedmate {

enum class Role : std::uint8_t {
  owner,             ///< of jobs: sees the own ones, of others no more than counts
  cluster_operator,  ///< sees the jobs of everybody, and decides about actions
  viewer,            ///< changes nothing; sees what an owner sees, or more where the site says so
};

struct Caller {
  /// A name of the history. "": nobody is known, and no job counts as the caller's own.
  std::string user;
  Role role = Role::owner;
  /// Whether this site shows its viewers the jobs of everybody; of no effect for other roles.
  bool viewers_see_all = false;

  /// Whether the answer may distinguish jobs of this user.
  [[nodiscard]] bool may_see_jobs_of(std::string_view owner) const {
    return role == Role::cluster_operator || (role == Role::viewer && viewers_see_all) ||
           (!user.empty() && user == owner);
  }
};

}  // namespace schedmate
