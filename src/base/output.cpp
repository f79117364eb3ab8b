// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/path_walk.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::size_t buffer_size = 1U << 16U;

// Open part files, in a form that a signal handler may read: fixed slots, each either empty or a
// complete path.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<bool> ready{false};
  std::array<char, 4096> path{};
};
std::array<Slot, 64> open_parts;

/// The slot that it took; nothing when all are taken.
std::optional<std::size_t> remember(const std::string& part) {
  for (std::size_t i = 0; i < open_parts.size(); ++i) {
    Slot& slot = open_parts[i];
    bool expected = false;
    if (part.size() >= slot.path.size() || !slot.used.compare_exchange_strong(expected, true))
      continue;
    std::memcpy(slot.path.data(), part.c_str(), part.size() + 1);
    slot.ready = true;
    return i;
  }
  return std::nullopt;
}

void forget(std::optional<std::size_t> number) {
  if (!number) return;
  open_parts[*number].ready = false;
  open_parts[*number].used = false;
}

// Part files of earlier runs that were killed hard.
struct CloseFolder {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

/// Of a part file; nothing when the name is none of `target`.
std::optional<pid_t> writer_of(std::string_view name, std::string_view prefix) {
  constexpr std::string_view ending = ".part";
  if (!name.starts_with(prefix) || !name.ends_with(ending)) return std::nullopt;
  name.remove_prefix(prefix.size());
  return parse_number<pid_t>(name.substr(0, name.find('.')));
}

void remove_stale(int folder, std::string_view prefix) {
  const int listed = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> stream(listed < 0 ? nullptr : ::fdopendir(listed));
  if (stream == nullptr) return;
  while (const dirent* found = ::readdir(stream.get())) {
    const auto writer = writer_of(found->d_name, prefix);
    struct stat status{};
    const bool ours = writer && *writer > 0 &&
                      ::fstatat(folder, found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      status.st_uid == ::geteuid();
    if (ours && ::kill(*writer, 0) != 0 && errno == ESRCH) ::unlinkat(folder, found->d_name, 0);
  }
}

/// The folder that a file is written to.
Result<Descriptor> open_folder(const std::string& path) {
  const auto at_link = [&](const struct stat& link, const struct stat& folder) -> Result<void> {
    static_cast<void>(folder);
    if (::geteuid() != 0 || link.st_uid == 0) return {};
    return fail(ErrorCode::refused, fmt::format("{}: lies behind a link of user {}; give a path "
                                                "without it",
                                                path, link.st_uid));
  };
  auto place = walk_path(path, {.at_link = at_link, .folder = true});
  if (!place) return tl::unexpected(place.error());
  return std::move(place->file);
}

}  // namespace

void remove_part_files() noexcept {
  for (Slot& slot : open_parts) {
    if (slot.ready) ::unlink(slot.path.data());
  }
}

Result<OutputFile> OutputFile::create(const std::string& path, Kept kept) {
  constexpr std::size_t most_of_name = 200;  // a name has 255 bytes
  const std::filesystem::path target(path);
  auto folder = open_folder(target.parent_path().string());
  if (!folder)
    return fail(
        folder.error().code == ErrorCode::refused ? ErrorCode::refused : ErrorCode::unavailable,
        fmt::format("cannot write {}: {}", path, folder.error().message));
  const std::string prefix =
      fmt::format(".{}.", target.filename().string().substr(0, most_of_name));
  remove_stale(folder->number(), prefix);
  std::uint64_t random = 0;
  static_cast<void>(::getrandom(&random, sizeof random, 0));
  OutputFile file;
  file.folder_ = std::move(*folder);
  file.path_ = path;
  file.part_ = fmt::format("{}{}.{:016x}.part", prefix, ::getpid(), random);
  file.slot_ = remember((target.parent_path() / file.part_).string());
  file.descriptor_ = ::openat(file.folder_.number(), file.part_.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              kept == Kept::secret ? 0600 : 0666);
  file.is_synced_ = kept == Kept::secret;
  if (file.descriptor_ < 0) {
    const int error = errno;
    forget(std::exchange(file.slot_, std::nullopt));
    file.part_.clear();
    return fail(ErrorCode::unavailable,
                fmt::format("cannot write {}: {}", path, std::strerror(error)));
  }
  file.buffer_.reserve(buffer_size);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this == &other) return *this;
  discard();
  path_ = std::exchange(other.path_, {});
  part_ = std::exchange(other.part_, {});
  buffer_ = std::exchange(other.buffer_, {});
  folder_ = std::move(other.folder_);
  slot_ = std::exchange(other.slot_, std::nullopt);
  descriptor_ = std::exchange(other.descriptor_, -1);
  error_ = other.error_;
  is_synced_ = other.is_synced_;
  return *this;
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::take_rights(const FileRights& rights) {
  is_synced_ = true;
  const bool done = ::fchown(descriptor_, rights.user, rights.group) == 0 &&
                    ::fchmod(descriptor_, rights.mode) == 0;
  if (!done && error_ == 0) error_ = errno;
}

void OutputFile::append(std::string_view text) {
  if (buffer_.size() + text.size() > buffer_size) flush();
  buffer_.append(text);
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

void OutputFile::discard() {
  if (part_.empty()) return;
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  ::unlinkat(folder_.number(), part_.c_str(), 0);
  forget(std::exchange(slot_, std::nullopt));
  part_.clear();
}

Result<void> OutputFile::commit() {
  flush();
  if (is_synced_ && ::fsync(descriptor_) != 0 && error_ == 0) error_ = errno;
  if (::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  const std::string name = std::filesystem::path(path_).filename().string();
  if (error_ == 0 &&
      ::renameat(folder_.number(), part_.c_str(), folder_.number(), name.c_str()) != 0)
    error_ = errno;
  const int error = error_;
  if (error != 0) {
    discard();
    return fail(ErrorCode::unavailable,
                fmt::format("cannot write {}: {}", path_, std::strerror(error)));
  }
  forget(std::exchange(slot_, std::nullopt));
  part_.clear();
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text, Kept kept) {
  return OutputFile::create(path, kept).and_then([&](OutputFile file) {
    file.append(text);
    return file.commit();
  });
}

Result<void> write_file(const std::string& path, std::string_view text, const FileRights& rights) {
  return OutputFile::create(path, Kept::secret).and_then([&](OutputFile file) {
    file.take_rights(rights);
    file.append(text);
    return file.commit();
  });
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return fail(ErrorCode::unavailable,
              fmt::format("cannot create the folder {}: {}", path, error.message()));
}

}  // namespace schedmate
