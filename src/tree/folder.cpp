// SPDX-License-Identifier: Apache-2.0
#include "tree/folder.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tree/encoding.hpp"

namespace schedmate::tree {
namespace {

struct CloseFolder {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

/// Nothing for what is neither folder nor regular file, and for links that lead nowhere.
std::optional<FolderEntry> look_at(const RootedFolder& root, int folder, FolderEntry entry) {
  const std::string& path = entry.entry.path;
  const std::string name = path.substr(path.rfind('/') + 1);
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  entry.real = path;
  if (S_ISLNK(status.st_mode)) {
    auto target = root.open(path, RootedFolder::Want::look);
    if (!target) return std::nullopt;
    entry.is_link = true;
    entry.real = target->path;
    status = target->status;
  }
  entry.entry.is_folder = S_ISDIR(status.st_mode);
  if (!entry.entry.is_folder && !S_ISREG(status.st_mode)) return std::nullopt;
  if (!entry.entry.is_folder) entry.entry.bytes = static_cast<std::size_t>(status.st_size);
  return entry;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const bool controls = std::ranges::any_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
  return !controls && is_utf8(name);
}

Result<Folder> list_folder(const RootedFolder& root, std::string_view path, std::size_t most) {
  auto opened = root.open(path, RootedFolder::Want::list);
  if (!opened) return tl::unexpected(opened.error());
  const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(opened->file.number()));
  if (stream == nullptr) return fail(ErrorCode::refused, std::string(path) + ": cannot be listed");
  const int number = opened->file.release();  // the stream closes it now
  const std::string before = path.empty() || path == "." ? "" : std::string(path) + "/";
  Folder folder;
  while (const dirent* found = ::readdir(stream.get())) {
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    if (!is_plain_name(name)) {
      folder.odd_names = true;
      continue;
    }
    if (folder.entries.size() == most) {
      folder.whole = false;
      break;
    }
    FolderEntry entry;
    entry.entry.path = before + std::string(name);
    if (auto known = look_at(root, number, std::move(entry))) {
      folder.entries.push_back(std::move(*known));
    }
  }
  std::ranges::sort(folder.entries, {}, [](const FolderEntry& e) -> auto& { return e.entry.path; });
  return folder;
}

}  // namespace schedmate::tree
