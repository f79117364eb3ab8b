// SPDX-License-Identifier: Apache-2.0
#include "log/lines/grown_file.hpp"

#include <fmt/format.h>

#include "log/lines/lines.hpp"

namespace schedmate::lines {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 16U;

/// Nothing where the file system does not say.
std::optional<std::uint64_t> size_of(ForeignFile& file) {
  const auto status = file.status();
  if (!status) return std::nullopt;
  return static_cast<std::uint64_t>(status->st_size);
}

}  // namespace

bool GrownFile::open() {
  file_.reset();
  auto file = ForeignFile::open(path_);
  if (file) file_ = std::move(*file);
  return file_.has_value();
}

bool GrownFile::was_replaced() {
  const auto here = file_->status();
  const auto there =
      ForeignFile::open(path_).and_then([](ForeignFile file) { return file.status(); });
  return here && there && (here->st_ino != there->st_ino || here->st_dev != there->st_dev);
}

bool GrownFile::take_rest(const std::function<void(std::string_view)>& take,
                          const std::function<void()>& restarted) {
  buffer_.resize(read_bytes);
  const std::uint64_t size = size_of(*file_).value_or(0);
  if (size > offset_ + most_at_once) {
    if (path_.access.note)
      path_.access.note(fmt::format("{}: grew by {} since the last look; read the last {}",
                                    path_.name, in_bytes(size - offset_), in_bytes(tail_bytes_)));
    restarted();
    offset_ = size - tail_bytes_;
  }
  bool any = false;
  for (const std::uint64_t end = offset_ + most_at_once; offset_ < end;) {
    const auto got = file_->read_at(buffer_, offset_);
    if (!got || *got == 0) break;
    any = true;
    offset_ += *got;
    take(std::string_view(buffer_).substr(0, *got));
  }
  return any;
}

bool GrownFile::read(const std::function<void(std::string_view)>& take,
                     const std::function<void()>& restarted) {
  const bool opened = !file_;
  if (opened && !open()) return false;
  const auto size = size_of(*file_);
  if (!size) {
    file_.reset();
    return false;
  }
  if (opened || *size < offset_) {
    restarted();
    offset_ = opened && *size > tail_bytes_ ? *size - tail_bytes_ : 0;
  }
  bool any = take_rest(take, restarted);
  if (!was_replaced()) return any;
  any = take_rest(take, restarted) || any;  // the last that went into the old one
  if (!open()) return any;
  restarted();
  offset_ = 0;
  return take_rest(take, restarted) || any;
}

}  // namespace schedmate::lines
