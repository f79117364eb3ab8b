// SPDX-License-Identifier: Apache-2.0
#include "settings/state_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace schedmate::settings {

Result<bool> make_state_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool was_there = fs::exists(path, error);
  fs::create_directories(path, error);
  if (error)
    return fail(
        ErrorCode::unavailable,
        fmt::format("state folder {}: {}; choose another with --state-dir", path, error.message()));
  if (!was_there) fs::permissions(path, fs::perms::owner_all, error);
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

}  // namespace schedmate::settings
