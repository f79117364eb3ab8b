// SPDX-License-Identifier: Apache-2.0
#include "base/own_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/path_walk.hpp"

namespace schedmate {
namespace {

Result<void> check_owner(const std::string& path, const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fail(ErrorCode::refused,
                fmt::format("{}: belongs to user {}, not to {}", path, status.st_uid, ::geteuid()));
  if (others_may_write(status, ::geteuid()))
    return fail(ErrorCode::refused,
                fmt::format("{}: others may write it (chmod go-w mends that)", path));
  return {};
}

enum class Wanted : unsigned char { made, found, way };  ///< the way to a file may be a link

Result<Place> own_folder(const std::string& path, Wanted wanted) {
  const auto at_link = [&](const struct stat& link, const struct stat& folder) -> Result<void> {
    static_cast<void>(folder);
    if (link.st_uid == 0 || link.st_uid == ::geteuid()) return {};
    return fail(ErrorCode::refused, fmt::format("{}: lies behind a link of user {}; give a path "
                                                "without it",
                                                path, link.st_uid));
  };
  auto place = walk_path(path, {.at_link = at_link,
                                .folder = true,
                                .follow_last = wanted == Wanted::way,
                                .make = wanted == Wanted::made});
  if (!place) return place;
  if (auto fine = check_owner(path, place->status); !fine) return tl::unexpected(fine.error());
  return place;
}

}  // namespace

Result<bool> make_own_folder(const std::string& path) {
  const auto place = own_folder(path, Wanted::made);
  if (!place) return tl::unexpected(place.error());
  return place->status.st_uid == ::geteuid();
}

Result<bool> has_own_folder(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 && errno == ENOENT) return false;
  return own_folder(path, Wanted::found).map([](const Place&) { return true; });
}

Result<Descriptor> open_own_file(const std::string& path, int flags) {
  const auto slash = path.rfind('/');
  const bool has_folder = slash != std::string::npos;
  const std::string folder = has_folder ? path.substr(0, std::max<std::size_t>(slash, 1)) : ".";
  const std::string name = has_folder ? path.substr(slash + 1) : path;
  const auto place = own_folder(folder, Wanted::way);
  if (!place) {
    const bool refused = place.error().code == ErrorCode::refused;
    return fail(refused ? ErrorCode::refused : ErrorCode::unavailable,
                fmt::format("{}: {}", path, place.error().message));
  }
  constexpr int always = O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(::openat(place->file.number(), name.c_str(), flags | always, S_IRUSR | S_IWUSR));
  struct stat status{};
  if (!file || ::fstat(file.number(), &status) != 0) {
    if (errno == ELOOP)
      return fail(ErrorCode::refused, path + ": is a link; give the file it points to");
    return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::refused, path + ": is not a regular file; give another");
  if (status.st_nlink > 1)
    return fail(ErrorCode::refused, path + ": has a second name; give a file of its own");
  if (auto fine = check_owner(path, status); !fine) return tl::unexpected(fine.error());
  return file;
}

}  // namespace schedmate
