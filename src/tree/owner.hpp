// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whose folders are read. A job's root and working directory belong to the job's owner, or are
/// open to the world where the policy allows that, so that nobody has another's files read for him.

#include <sys/types.h>
#include <unistd.h>

#include <schedmate/result.hpp>
#include <string_view>

namespace schedmate::tree {

struct TrustedOwners {
  uid_t owner = ::geteuid();
  bool world_readable = true;  ///< also what everybody may read
};

/// Looks at the opened folder, not at its name. Errors: refused.
[[nodiscard]] Result<void> check_owner(int folder, const TrustedOwners& rule,
                                       std::string_view name);

}  // namespace schedmate::tree
