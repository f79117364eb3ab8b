// SPDX-License-Identifier: Apache-2.0
#include "log/lines/grown_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace schedmate::lines {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 16U;

}  // namespace

GrownFile::~GrownFile() { close(); }

void GrownFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

bool GrownFile::open() {
  file_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status{};
  if (file_ < 0) return false;
  if (::fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) return true;
  close();
  return false;
}

bool GrownFile::was_replaced() const {
  struct stat here{};
  struct stat there{};
  if (::fstat(file_, &here) != 0 || ::stat(path_.c_str(), &there) != 0) return false;
  return here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

bool GrownFile::take_rest(const std::function<void(std::string_view)>& take) {
  buffer_.resize(read_bytes);
  bool any = false;
  while (true) {
    const auto got = ::pread(file_, buffer_.data(), buffer_.size(), static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return any;
    any = true;
    offset_ += static_cast<std::uint64_t>(got);
    take(std::string_view(buffer_).substr(0, static_cast<std::size_t>(got)));
  }
}

bool GrownFile::read(const std::function<void(std::string_view)>& take,
                     const std::function<void()>& restarted) {
  struct stat status{};
  if (file_ < 0) {
    if (!open()) return false;
    restarted();
    offset_ = 0;
    if (::fstat(file_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) > tail_bytes_)
      offset_ = static_cast<std::uint64_t>(status.st_size) - tail_bytes_;
  } else if (::fstat(file_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) < offset_) {
    restarted();
    offset_ = 0;
  }
  bool any = take_rest(take);
  if (!was_replaced()) return any;
  any = take_rest(take) || any;  // the last that went into the old one
  close();
  if (!open()) return any;
  restarted();
  offset_ = 0;
  return take_rest(take) || any;
}

}  // namespace schedmate::lines
