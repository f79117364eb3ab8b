// SPDX-License-Identifier: Apache-2.0
#include "base/own_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/path_walk.hpp"
#include "base/text.hpp"

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

tl::unexpected<Error> is_link(const std::string& path) {
  return fail(ErrorCode::refused, path + ": is a link; give the file it points to");
}

Result<void> check_file(const std::string& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return is_link(path);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::refused, path + ": is not a regular file; give another");
  if (status.st_nlink > 1)
    return fail(ErrorCode::refused, path + ": has a second name; give a file of its own");
  return check_owner(path, status);
}

Result<Descriptor> open_in_own_folder(const std::string& path, int flags) {
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
  const int all_flags = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(::openat(place->file.number(), name.c_str(), all_flags, S_IRUSR | S_IWUSR));
  struct stat status{};
  if (!file || ::fstat(file.number(), &status) != 0) {
    if (errno == ELOOP) return is_link(path);
    return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (auto fine = check_file(path, status); !fine) return tl::unexpected(fine.error());
  return file;
}

void to_nothing(const Descriptor& file) { static_cast<void>(file); }

constexpr int new_file = O_RDWR | O_CREAT | O_EXCL;

/// The file has its name only when it is closed, so that nobody has locks on it before. False where
/// it is there meanwhile, or the file system cannot do so.
bool appears_closed(const std::string& path) {
  const std::string fresh = fmt::format("{}.{}.{}", path, ::getpid(), ::gettid());
  if (!open_in_own_folder(fresh, new_file)) return false;
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
    return true;
  ::unlink(fresh.c_str());
  return false;
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
  const int makes = (flags & O_ACCMODE) == O_RDONLY ? 0 : O_CREAT;
  return open_in_own_folder(path, flags | makes);
}

Result<void> make_own_file(const std::string& path) {
  struct stat status{};
  const auto is_absent = [&] { return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT; };
  if (is_absent() && !appears_closed(path) && is_absent()) {
    const auto made = open_in_own_folder(path, new_file);
    if (made || is_absent()) return made.map(to_nothing);
  }
  return open_in_own_folder(path, O_PATH).map(to_nothing);
}

Result<std::string> read_private_file(const std::string& path) {
  auto file = open_own_file(path, O_RDONLY);
  if (!file) return tl::unexpected(file.error());
  struct stat status{};
  constexpr mode_t of_others = 0027;
  if (::fstat(file->number(), &status) != 0 || (status.st_mode & of_others) != 0)
    return fail(ErrorCode::refused,
                fmt::format("{}: others may read it (chmod 0640, or 0600)", path));
  std::array<char, 4096> text{};
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = ::read(file->number(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  return std::string(trim({text.data(), size}));
}

}  // namespace schedmate
