// SPDX-License-Identifier: Apache-2.0
#include "tree/rooted_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <ranges>
#include <vector>

#include "base/path_walk.hpp"
#include "base/text.hpp"

namespace schedmate::tree {
namespace {

using Want = RootedFolder::Want;

int flags_for(Want want) {
  constexpr int always = O_CLOEXEC | O_NOFOLLOW;
  switch (want) {
    case Want::look:
      return always | O_PATH;
    case Want::read:
      return always | O_RDONLY | O_NONBLOCK | O_NOCTTY;
    case Want::list:
      return always | O_RDONLY | O_DIRECTORY | O_NONBLOCK;
  }
  return always;
}

tl::unexpected<Error> system_error(std::string_view path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return fail(ErrorCode::not_found, fmt::format("{}: not in the tree", path));
    case ELOOP:
      return fail(ErrorCode::refused, fmt::format("{}: became a link while it was opened", path));
    case ENXIO:
    case ENODEV:
      return fail(ErrorCode::refused, fmt::format("{}: not a regular file", path));
    default:
      return fail(ErrorCode::refused,
                  fmt::format("{}: cannot be opened: {}", path, std::strerror(error)));
  }
}

/// /proc and its like are not files of a job, even where one is mounted inside a tree.
bool is_kernel_interface(int descriptor) {
  struct statfs system{};
  if (::fstatfs(descriptor, &system) != 0) return false;
  constexpr std::array<unsigned long, 8> kinds = {
      PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
      SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC};
  return std::ranges::find(kinds, static_cast<unsigned long>(system.f_type)) != kinds.end();
}

Result<Opened> checked(Opened opened, Want want) {
  const int number = opened.file.number();
  if (::fstat(number, &opened.status) != 0) return system_error(opened.path, errno);
  if (want == Want::read && !S_ISREG(opened.status.st_mode)) {
    const std::string_view what =
        S_ISDIR(opened.status.st_mode) ? "a folder" : "not a regular file";
    return fail(ErrorCode::refused, fmt::format("{}: {}", opened.path, what));
  }
  if (is_kernel_interface(number)) {
    return fail(ErrorCode::refused, fmt::format("{}: belongs to the kernel", opened.path));
  }
  return opened;
}

/// openat2 of a path without links; -1 and errno where it cannot be opened so.
int open_plainly(int root, const std::string& path, Want want) {
  struct open_how how{};
  how.flags = static_cast<unsigned>(flags_for(want));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  for (int attempt = 0;; ++attempt) {
    const long file = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    // EAGAIN: something was renamed meanwhile.
    if (file >= 0 || (errno != EAGAIN && errno != EINTR) || attempt == 8) {
      return static_cast<int>(file);
    }
  }
}

/// The walk of one path: where it stands, and the parts still to go.
class Walk {
 public:
  Walk(const RootedFolder& root, std::string_view path) : root_(root), asked_(path) { push(path); }

  Result<Opened> run(Want want) {
    while (!pending_.empty()) {
      const std::string part = std::move(pending_.back());
      pending_.pop_back();
      if (auto done = step(part); !done) return tl::unexpected(done.error());
    }
    const int folder = stack_.size() < 2 ? root_.descriptor() : stack_.end()[-2].file.number();
    const std::string name = stack_.empty() ? "." : stack_.back().name;
    Descriptor file(::openat(folder, name.c_str(), flags_for(want)));
    if (!file) return system_error(asked_, errno);
    return checked({std::move(file), path(), {}}, want);
  }

 private:
  struct Level {
    std::string name;
    Descriptor file;
  };

  void push(std::string_view path) {
    const auto parts = split(path, '/');
    for (const auto part : parts | std::views::reverse) {
      if (!part.empty() && part != ".") pending_.emplace_back(part);
    }
  }

  Result<void> step(const std::string& part) {
    if (++steps_ > RootedFolder::most_parts) {
      return fail(ErrorCode::refused, fmt::format("{}: too many levels of links", asked_));
    }
    if (part == "..") {
      if (stack_.empty()) {
        return fail(ErrorCode::refused, fmt::format("{}: leads outside the tree", asked_));
      }
      stack_.pop_back();
      return {};
    }
    Descriptor file(::openat(here(), part.c_str(), flags_for(Want::look)));
    struct stat status{};
    if (!file || ::fstat(file.number(), &status) != 0) return system_error(asked_, errno);
    if (S_ISLNK(status.st_mode)) return follow(part);
    stack_.push_back({part, std::move(file)});
    return {};
  }

  Result<void> follow(const std::string& part) {
    if (++links_ > RootedFolder::most_links) {
      return fail(ErrorCode::refused, fmt::format("{}: links in a circle", asked_));
    }
    std::array<char, PATH_MAX> buffer{};
    const ssize_t size = ::readlinkat(here(), part.c_str(), buffer.data(), buffer.size());
    if (size < 0) return system_error(asked_, errno == EINVAL ? ELOOP : errno);
    std::string_view target(buffer.data(), static_cast<std::size_t>(size));
    if (target.starts_with('/')) {
      const std::string& place = root_.place();
      const bool inside = target.starts_with(place) &&
                          (target.size() == place.size() || target[place.size()] == '/');
      if (!inside) {
        return fail(ErrorCode::refused,
                    fmt::format("{}: the absolute link {}/{} leads outside the tree", asked_,
                                path(), part));
      }
      target.remove_prefix(place.size());
      stack_.clear();
    }
    push(target);
    return {};
  }

  [[nodiscard]] int here() const {
    return stack_.empty() ? root_.descriptor() : stack_.back().file.number();
  }
  [[nodiscard]] std::string path() const {
    std::string joined;
    for (const Level& level : stack_) {
      if (!joined.empty()) joined += '/';
      joined += level.name;
    }
    return joined.empty() ? "." : joined;
  }

  const RootedFolder& root_;
  std::string_view asked_;
  std::vector<std::string> pending_;  ///< next part last
  std::vector<Level> stack_;
  int links_ = 0;
  int steps_ = 0;
};

}  // namespace

Result<RootedFolder> RootedFolder::open(const std::string& root) {
  std::string path = root.empty() ? "." : root;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto place = walk_path(path, {.at_link = {}, .folder = true, .follow_last = false});
  if (!place) return tl::unexpected(place.error());
  return at(place->file, path);
}

Result<RootedFolder> RootedFolder::at(const Descriptor& folder, const std::string& name) {
  if (is_kernel_interface(folder.number())) {
    return fail(ErrorCode::refused, fmt::format("{}: belongs to the kernel, not to a job", name));
  }
  Descriptor root(::openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    return fail(ErrorCode::refused,
                fmt::format("{}: cannot be opened as a folder: {}", name, std::strerror(errno)));
  }
  const std::string here = fmt::format("/proc/self/fd/{}", root.number());
  std::array<char, PATH_MAX> place{};
  if (::readlink(here.c_str(), place.data(), place.size() - 1) > 0)
    return RootedFolder(std::move(root), place.data());
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(name.c_str(), nullptr),
                                                         &std::free);
  return RootedFolder(std::move(root), path ? path.get() : name);
}

Result<Opened> RootedFolder::open(std::string_view path, Want want) const {
  const std::string name(path.empty() ? "." : path);
  Descriptor file(open_plainly(root_.number(), name, want));
  if (!file && errno == ENOENT) return system_error(path, ENOENT);
  if (!file) return walk(path, want);
  auto opened = checked({std::move(file), name, {}}, want);
  // A link that is only looked at is opened itself.
  if (opened && S_ISLNK(opened->status.st_mode)) return walk(path, want);
  return opened;
}

Result<Opened> RootedFolder::walk(std::string_view path, Want want) const {
  return Walk(*this, path).run(want);
}

}  // namespace schedmate::tree
