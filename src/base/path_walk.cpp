// SPDX-License-Identifier: Apache-2.0
#include "base/path_walk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ranges>
#include <vector>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr int most_links_walked = 40;  // as in the kernel
constexpr int most_parts = 4096;
constexpr int look = O_PATH | O_NOFOLLOW | O_CLOEXEC;

class Walk {
 public:
  Walk(const std::string& path, const WalkRules& rules) : asked_(path), rules_(rules) {}

  Result<Place> run() {
    if (auto done = start(asked_); !done) return tl::unexpected(done.error());
    while (!pending_.empty()) {
      const std::string part = std::move(pending_.back());
      pending_.pop_back();
      if (++steps_ > most_parts) return refuse("has too many components");
      if (auto done = step(part); !done) return tl::unexpected(done.error());
    }
    if (found_.name.empty()) {  // "/", "." and links to such
      found_.folder = std::move(here_);
      found_.name = ".";
      found_.file = Descriptor(::openat(found_.folder.number(), ".", look | O_DIRECTORY));
      if (!found_.file || ::fstat(found_.file.number(), &found_.status) != 0) return broken(errno);
    }
    return std::move(found_);
  }

 private:
  Result<void> start(std::string_view path) {
    if (path.starts_with('/') || !here_) {
      here_ = Descriptor(::open(path.starts_with('/') ? "/" : ".", look | O_DIRECTORY));
      if (!here_) return broken(errno);
    }
    const auto parts = split(path, '/');
    for (const auto part : parts | std::views::reverse)
      if (!part.empty() && part != ".") pending_.emplace_back(part);
    return {};
  }

  Result<void> step(const std::string& part) {
    const bool last = pending_.empty();
    const bool enters = !last || rules_.folder;
    Descriptor next(open_part(part, enters, last));
    if (!next && last && errno == ENOENT && rules_.may_be_absent) return end(part, {}, {});
    // What is entered is opened as a folder, so that it is mounted where it must be; a link is
    // none.
    const bool no_folder = !next && errno == ENOTDIR && enters;
    if (no_folder) next = Descriptor(::openat(here_.number(), part.c_str(), look));
    struct stat status{};
    if (!next || ::fstat(next.number(), &status) != 0) return broken(errno);
    if (S_ISLNK(status.st_mode)) return follow(next, status, last);
    if (no_folder) return broken(ENOTDIR);
    if (last) return end(part, std::move(next), status);
    here_ = std::move(next);
    return {};
  }

  Descriptor open_part(const std::string& part, bool enters, bool last) {
    const int flags = look | (enters ? O_DIRECTORY : 0);
    Descriptor next(::openat(here_.number(), part.c_str(), flags));
    if (next || errno != ENOENT || !rules_.make) return next;
    constexpr mode_t usual = 0777;
    if (::mkdirat(here_.number(), part.c_str(), last ? S_IRWXU : usual) != 0 && errno != EEXIST)
      return {};
    return Descriptor(::openat(here_.number(), part.c_str(), flags));
  }

  Result<void> end(std::string_view name, Descriptor file, const struct stat& status) {
    found_.folder = std::move(here_);
    found_.name = name;
    found_.file = std::move(file);
    found_.status = status;
    return {};
  }

  Result<void> follow(const Descriptor& link, const struct stat& status, bool last) {
    if (last && !rules_.follow_last)
      return refuse(rules_.folder ? "is a link; give the folder it points to"
                                  : "is a link; give the file it points to");
    if (++links_ > most_links_walked) return refuse("links in a circle");
    struct stat folder{};
    if (::fstat(here_.number(), &folder) != 0) return broken(errno);
    if (rules_.at_link)
      if (auto fine = rules_.at_link(status, folder); !fine) return fine;
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(link.number(), "", target.data(), target.size());
    if (size < 0) return broken(errno);
    return start({target.data(), static_cast<std::size_t>(size)});
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view what) const {
    return fail(ErrorCode::refused, fmt::format("{}: {}", asked_, what));
  }
  [[nodiscard]] tl::unexpected<Error> broken(int error) const {
    const bool absent = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
    const bool denied = error == EACCES || error == EPERM || error == ELOOP;
    return fail(absent                   ? ErrorCode::not_found
                : denied || !rules_.make ? ErrorCode::refused
                                         : ErrorCode::unavailable,
                fmt::format("{}: {}: {}", asked_,
                            rules_.folder ? "cannot be opened as a folder" : "cannot open",
                            std::strerror(error)));
  }

  const std::string& asked_;
  const WalkRules& rules_;
  Descriptor here_;
  std::vector<std::string> pending_;  ///< next part last
  Place found_;
  int links_ = 0;
  int steps_ = 0;
};

}  // namespace

Result<Place> walk_path(const std::string& path, const WalkRules& rules) {
  return Walk(path.empty() && rules.folder ? "." : path, rules).run();
}

bool others_may_write(const struct stat& folder, uid_t user) {
  return (folder.st_uid != user && folder.st_uid != 0) ||
         (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

}  // namespace schedmate
