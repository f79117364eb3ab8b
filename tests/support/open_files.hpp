// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How many files this process may have open.

#include <sys/resource.h>

#include <algorithm>

namespace schedmate::testing {

/// Raises the limit to `files`, if the system lets it, and says whether it did.
inline bool may_open(rlim_t files) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, files));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur >= files;
}

/// Leaves no more than `files` until the end of the scope.
class FewFiles {
 public:
  explicit FewFiles(rlim_t files) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{files, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace schedmate::testing
