// SPDX-License-Identifier: Apache-2.0
#include "base/mounts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <ranges>
#include <unordered_map>
#include <vector>

#include "base/descriptor.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr int most_links = 40;  // as in the kernel

bool is_local(std::string_view kind) {
  constexpr auto kinds = std::to_array<std::string_view>(
      {"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "ramfs", "rootfs",
       "squashfs", "erofs", "vfat", "proc", "sysfs", "devtmpfs", "devpts"});
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// The table has "\\040" for a blank, and the like.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escaped = text[at] == '\\' && at + 3 < text.size();
    if (!escaped) {
      plain += text[at];
      continue;
    }
    int code = 0;
    for (const char digit : text.substr(at + 1, 3)) code = code * 8 + (digit - '0');
    plain += static_cast<char>(code);
    at += 3;
  }
  return plain;
}

/// Whether what is mounted at a path may hang. Of several mounts at one path the last one is seen.
using Mounts = std::unordered_map<std::string, bool>;

Mounts read_mounts(std::string_view table) {
  Mounts mounts;
  for (const std::string_view line : split(table, '\n')) {
    constexpr std::size_t place = 4;
    const auto words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() <= place || dash == words.end() || dash + 1 == words.end()) continue;
    mounts[unescaped(words[place])] = !is_local(*(dash + 1));
  }
  return mounts;
}

/// Follows a path as the kernel does, and stops before the first file system that may hang.
class Way {
 public:
  explicit Way(const Mounts& mounts) : mounts_(mounts) {}

  bool hangs(std::string_view path) {
    if (enter("/")) return true;
    push(path);
    while (!pending_.empty()) {
      const std::string part = std::move(pending_.back());
      pending_.pop_back();
      if (part == "..") {
        here_.erase(std::max<std::size_t>(here_.rfind('/'), 1));
        continue;
      }
      const std::string next = here_ == "/" ? "/" + part : here_ + "/" + part;
      if (enter(next)) return true;
      struct stat status{};
      if (::lstat(next.c_str(), &status) != 0) return false;  // what is absent is made here
      if (!S_ISLNK(status.st_mode)) {
        here_ = next;
        continue;
      }
      std::array<char, PATH_MAX> target{};
      const ssize_t size = ::readlink(next.c_str(), target.data(), target.size());
      if (size < 0 || ++links_ > most_links) return false;  // whoever opens it says what is wrong
      const std::string_view text(target.data(), static_cast<std::size_t>(size));
      if (text.starts_with('/')) here_ = "/";
      push(text);
    }
    return false;
  }

 private:
  bool enter(const std::string& folder) {
    const auto mount = mounts_.find(folder);
    return mount != mounts_.end() && mount->second;
  }
  void push(std::string_view path) {
    const auto parts = split(path, '/');
    for (const auto part : parts | std::views::reverse)
      if (!part.empty() && part != ".") pending_.emplace_back(part);
  }

  const Mounts& mounts_;
  std::string here_ = "/";
  std::vector<std::string> pending_;  ///< next part last
  int links_ = 0;
};

}  // namespace

bool may_hang(const std::string& path, std::string_view table) {
  const Mounts mounts = read_mounts(table);
  if (mounts.empty()) return true;
  std::array<char, PATH_MAX> here{};
  if (path.starts_with('/')) return Way(mounts).hangs(path);
  if (::getcwd(here.data(), here.size()) == nullptr) return true;
  return Way(mounts).hangs(std::string(here.data()) + "/" + path);
}

bool may_hang(const std::string& path) {
  const Descriptor file(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  std::string table;
  std::array<char, 1 << 14> part{};
  for (ssize_t got = 0; (got = ::read(file.number(), part.data(), part.size())) > 0;)
    table.append(part.data(), static_cast<std::size_t>(got));
  return may_hang(path, table);
}

}  // namespace schedmate
