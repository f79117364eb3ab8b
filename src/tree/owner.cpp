// SPDX-License-Identifier: Apache-2.0
#include "tree/owner.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace schedmate::tree {

Result<void> check_owner(int folder, const TrustedOwners& rule, std::string_view name) {
  struct stat status{};
  if (::fstat(folder, &status) != 0) {
    return fail(ErrorCode::refused, fmt::format("{}: {}", name, std::strerror(errno)));
  }
  if (status.st_uid == rule.owner) return {};
  constexpr mode_t open_to_all = S_IROTH | S_IXOTH;
  if (rule.world_readable && (status.st_mode & open_to_all) == open_to_all) return {};
  return fail(ErrorCode::refused,
              fmt::format("{}: belongs to user {}, not to {}{}", name, status.st_uid, rule.owner,
                          rule.world_readable ? ", and is not readable for all" : ""));
}

}  // namespace schedmate::tree
