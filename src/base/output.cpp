// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

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
void remove_stale(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string prefix = "." + path.filename().string() + ".";
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".part")) continue;
    const std::string pid = name.substr(prefix.size(), name.size() - prefix.size() - 5);
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!fs::exists("/proc/" + pid, error)) fs::remove(entry.path(), error);
  }
}

}  // namespace

void remove_part_files() noexcept {
  for (Slot& slot : open_parts) {
    if (slot.ready) ::unlink(slot.path.data());
  }
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  const std::filesystem::path target(path);
  remove_stale(target);
  OutputFile file;
  file.path_ = path;
  file.part_ =
      (target.parent_path() / fmt::format(".{}.{}.part", target.filename().string(), getpid()))
          .string();
  file.slot_ = remember(file.part_);
  file.descriptor_ = ::open(file.part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) {
    const int error = errno;
    file.discard();
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
  slot_ = std::exchange(other.slot_, std::nullopt);
  descriptor_ = std::exchange(other.descriptor_, -1);
  error_ = other.error_;
  return *this;
}

OutputFile::~OutputFile() { discard(); }

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
  ::unlink(part_.c_str());
  forget(std::exchange(slot_, std::nullopt));
  part_.clear();
}

Result<void> OutputFile::commit() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && ::rename(part_.c_str(), path_.c_str()) != 0) error_ = errno;
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

Result<void> write_file(const std::string& path, std::string_view text) {
  return OutputFile::create(path).and_then([&](OutputFile file) {
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
