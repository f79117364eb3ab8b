// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_open.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/path_walk.hpp"

namespace schedmate {
namespace {

using Want = ForeignFile::Want;

tl::unexpected<Error> refuse(const std::string& name, std::string_view what) {
  return fail(ErrorCode::refused, fmt::format("{}: {}", name, what));
}

Result<void> check_kind(const std::string& name, const struct stat& status, Want want) {
  const bool folder = S_ISDIR(status.st_mode);
  if (want == Want::folder && !folder)
    return fail(ErrorCode::not_found,
                fmt::format("{}: cannot be opened as a folder: {}", name, std::strerror(ENOTDIR)));
  if (want == Want::folder || S_ISREG(status.st_mode)) return {};
  return fail(ErrorCode::invalid,
              fmt::format("{}: {}", name,
                          folder ? "is a folder, not a file"
                                 : "is a pipe or a device; copy its content to a file first"));
}

int flags_for(Want want) {
  const int always = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  return want == Want::folder ? always | O_DIRECTORY | O_NOFOLLOW : always;
}

tl::unexpected<Error> cannot_open(const std::string& name, int error, const Identity& reader) {
  const bool denied = error == EACCES || error == EPERM;
  const bool absent = error == ENOENT || error == ENOTDIR;
  const std::string who = reader.user ? fmt::format(" (as user {})", *reader.user) : "";
  return fail(absent   ? ErrorCode::not_found
              : denied ? ErrorCode::refused
                       : ErrorCode::invalid,
              fmt::format("{}: cannot open: {}{}", name, std::strerror(error), who));
}

/// What the kernel lets this process do, links included.
Result<OpenedAs> open_with_own_rights(const ForeignPath& path, Want want, Identity reader) {
  const std::string& name = path.name;
  OpenedAs opened{{}, {}, std::move(reader)};
  if (want == Want::folder) {
    auto place = walk_path(name, {.at_link = {}, .folder = true, .follow_last = false});
    if (!place) return tl::unexpected(place.error());
    opened.file = Descriptor(::openat(place->file.number(), ".", flags_for(want)));
  } else {
    opened.file = Descriptor(::open(name.c_str(), flags_for(want)));
  }
  if (!opened.file || ::fstat(opened.file.number(), &opened.status) != 0)
    return cannot_open(name, errno, opened.reader);
  if (auto fine = check_kind(name, opened.status, want); !fine) return tl::unexpected(fine.error());
  return opened;
}

/// The object that the walk has found, whatever stands at its name by now.
Result<Descriptor> open_found(const std::string& name, const Place& place, Want want,
                              const Identity& reader) {
  const int flags = flags_for(want) & ~O_NOFOLLOW;
  Descriptor file(::open(fmt::format("/proc/self/fd/{}", place.file.number()).c_str(), flags));
  if (file || errno != ENOENT) {
    if (!file) return cannot_open(name, errno, reader);
    return file;
  }
  // No /proc here.
  file = Descriptor(::openat(place.folder.number(), place.name.c_str(), flags | O_NOFOLLOW));
  if (!file) return cannot_open(name, errno, reader);
  struct stat now{};
  const bool same = ::fstat(file.number(), &now) == 0 && now.st_ino == place.status.st_ino &&
                    now.st_dev == place.status.st_dev;
  if (!same) return refuse(name, "was replaced while it was opened; try again");
  return file;
}

/// Opening for root, which has all rights and therefore goes by whose things are on the way.
class RootReader {
 public:
  RootReader(const ForeignPath& path, Want want) : name_(path.name), want_(want) {}

  Result<OpenedAs> open() {
    const WalkRules rules{
        .at_link = [this](const struct stat& link,
                          const struct stat& folder) { return pass(link, folder); },
        .folder = want_ == Want::folder,
        .follow_last = want_ == Want::file};
    auto place = walk_path(name_, rules);
    if (!place) return tl::unexpected(named(place.error()));
    if (auto fine = check_kind(name_, place->status, want_); !fine)
      return tl::unexpected(fine.error());
    if (auto fine = check_owner(*place); !fine) return tl::unexpected(fine.error());
    auto file = open_found(name_, *place, want_, reader_);
    if (!file) return tl::unexpected(file.error());
    return OpenedAs{std::move(*file), place->status, reader_};
  }

 private:
  /// A link of another user: from here on with that user's rights.
  Result<void> pass(const struct stat& link, const struct stat& folder) {
    if (link.st_uid == 0) return has_one_name(link, folder);
    if (!is_root() && *reader_.user != link.st_uid)
      return refuse(name_, fmt::format("leads through links of users {} and {}; give the path "
                                       "without links",
                                       *reader_.user, link.st_uid));
    return is_root() ? take_on(link.st_uid) : Result<void>();
  }

  Result<void> check_owner(const Place& place) {
    const uid_t owner = place.status.st_uid;
    if (owner == 0) {
      struct stat folder{};
      if (!is_root() || S_ISDIR(place.status.st_mode)) return {};
      if (::fstat(place.folder.number(), &folder) != 0) return refuse(name_, std::strerror(errno));
      return has_one_name(place.status, folder);
    }
    const mode_t open_to_all = want_ == Want::folder ? S_IROTH | S_IXOTH : S_IROTH;
    if ((place.status.st_mode & open_to_all) != open_to_all)
      return refuse(name_, fmt::format("belongs to user {}, not to 0, and is not readable for all; "
                                       "--set reader={} reads it as that user",
                                       owner, owner));
    return is_root() ? take_on(owner) : Result<void>();
  }

  /// A second name of a file of root, in a folder of others, may be theirs.
  [[nodiscard]] Result<void> has_one_name(const struct stat& file,
                                          const struct stat& folder) const {
    if (!is_root() || file.st_nlink < 2 || !others_may_write(folder, 0)) return {};
    return refuse(name_, "has a second name in a folder that others may write; give the first");
  }

  [[nodiscard]] bool is_root() const { return *reader_.user == 0; }
  Result<void> take_on(uid_t user) {
    reader_.user = user;
    return become(reader_);
  }
  /// A refusal says whose rights did not suffice.
  [[nodiscard]] Error named(Error error) const {
    if (error.code == ErrorCode::refused && !is_root())
      error.message += fmt::format(" (as user {})", *reader_.user);
    return error;
  }

  const std::string& name_;
  Want want_;
  Identity reader_{.user = 0};
};

}  // namespace

Result<void> become(const Identity& who) {
  if (!who.user || *who.user == ::geteuid()) return {};
  const uid_t user = *who.user;
  if (::geteuid() != 0)
    return fail(ErrorCode::refused, fmt::format("only root may read as user {}", user));
  const bool done = ::setgroups(who.groups.size(), who.groups.data()) == 0 &&
                    ::setresgid(who.group, who.group, who.group) == 0 &&
                    ::setresuid(user, user, user) == 0 && ::setuid(0) != 0;  // no way back
  if (done) return {};
  return fail(ErrorCode::refused, fmt::format("cannot become user {}", user));
}

Result<OpenedAs> open_as_reader(const ForeignPath& path, Want want) {
  const Identity& identity = path.access.identity;
  if (path.name.empty() && want == Want::file) return cannot_open(path.name, ENOENT, identity);
  if (::geteuid() == 0 && identity.user.value_or(0) == 0) return RootReader(path, want).open();
  if (auto done = become(identity); !done) return tl::unexpected(done.error());
  return open_with_own_rights(path, want, identity);
}

bool always_answers(const Descriptor& file) {
  struct statfs system{};
  if (::fstatfs(file.number(), &system) != 0) return false;
  constexpr unsigned long xfs = 0x58465342;
  constexpr unsigned long zfs = 0x2fc12fc1;
  constexpr std::array<unsigned long, 11> kinds = {EXT4_SUPER_MAGIC,
                                                   xfs,
                                                   BTRFS_SUPER_MAGIC,
                                                   TMPFS_MAGIC,
                                                   OVERLAYFS_SUPER_MAGIC,
                                                   zfs,
                                                   F2FS_SUPER_MAGIC,
                                                   RAMFS_MAGIC,
                                                   SQUASHFS_MAGIC,
                                                   PROC_SUPER_MAGIC,
                                                   SYSFS_MAGIC};
  return std::ranges::find(kinds, static_cast<unsigned long>(system.f_type)) != kinds.end();
}

void serve_reads(const Descriptor& file, int socket) {
  std::vector<char> message(sizeof(ReadAnswer) + most_served_bytes);
  ReadRequest request;
  while (::recv(socket, &request, sizeof request, 0) == sizeof request) {
    ReadAnswer answer;
    if (request.bytes == 0) {
      if (::fstat(file.number(), &answer.status) != 0) answer.bytes = -errno;
    } else {
      answer.bytes = ::pread(file.number(), message.data() + sizeof answer,
                             std::min<std::size_t>(request.bytes, most_served_bytes),
                             static_cast<off_t>(request.offset));
      if (answer.bytes < 0) answer.bytes = -errno;
    }
    std::memcpy(message.data(), &answer, sizeof answer);
    const auto size =
        sizeof answer + static_cast<std::size_t>(std::max<std::int64_t>(0, answer.bytes));
    if (::send(socket, message.data(), size, MSG_NOSIGNAL) < 0) return;
  }
}

}  // namespace schedmate
