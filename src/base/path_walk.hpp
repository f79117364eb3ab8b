// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The way to a file, walked component by component with O_PATH | O_NOFOLLOW, so that whoever
/// follows a link sees first whose link it is. Nothing on the way is opened for reading or writing.

#include <sys/stat.h>

#include <functional>
#include <schedmate/result.hpp>
#include <string>

#include "base/descriptor.hpp"

namespace schedmate {

/// Where a path leads.
struct Place {
  Descriptor folder;  ///< O_PATH
  std::string name;   ///< in the folder; "." for the folder itself
  Descriptor file;    ///< O_PATH; none when it is absent and may be
  struct stat status{};
};

struct WalkRules {
  /// Asked before a link is followed, with the folder that holds it; an error ends the walk.
  std::function<Result<void>(const struct stat& link, const struct stat& folder)> at_link;
  bool folder = false;         ///< a folder is wanted, not a file
  bool follow_last = true;     ///< false: what is wanted must not be a link
  bool make = false;           ///< absent folders are made, the last one with rights 0700
  bool may_be_absent = false;  ///< the last component
};

/// Errors: not_found; refused (no rights, a link that the rules forbid, links in a circle);
/// unavailable (a folder that cannot be made).
[[nodiscard]] Result<Place> walk_path(const std::string& path, const WalkRules& rules);

/// Whether others than root and the user may rename, remove and add files there.
[[nodiscard]] bool others_may_write(const struct stat& folder, uid_t user);

}  // namespace schedmate
