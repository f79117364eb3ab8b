// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/foreign_file.hpp"

namespace schedmate::probe {
namespace {

constexpr std::string_view kernel_device = "/dev/kmsg";
constexpr std::uint64_t tail_bytes = std::uint64_t{1} << 16U;

}  // namespace

KernelSource::KernelSource(std::string path, bool from_before)
    : path_(std::move(path)), is_device_(path_ == kernel_device) {
  if (!is_device_)
    file_ = std::make_unique<lines::GrownFile>(ForeignPath(path_), from_before ? tail_bytes : 0);
}

void KernelSource::read(KernelSifter& sifter, const Now& now) {
  if (is_device_)
    read_records(sifter, now);
  else
    read_text(sifter, now);
}

void KernelSource::read_text(KernelSifter& sifter, const Now& now) {
  const bool any = file_->read([&](std::string_view bytes) { sifter.take(bytes, now.wall_s); },
                               [&] { sifter.restart(); });
  if (any) error_.clear();
  constexpr unsigned often = 30;  // an open is a child
  if (any || (looks_++ % often != 0 && error_.empty())) return;
  const auto readable = ForeignFile::open(ForeignPath(path_));
  error_ = readable ? "" : readable.error().message;
}

void KernelSource::read_records(KernelSifter& sifter, const Now& now) {
  if (!device_) device_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!device_) {
    error_ = fmt::format("{}: {} (its reader needs CAP_SYSLOG)", path_, std::strerror(errno));
    return;
  }
  error_.clear();
  const auto now_us = std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic).count();
  std::array<char, 8192> record{};  // the longest that the kernel has
  constexpr int most_records = 100'000;
  for (int i = 0; i < most_records; ++i) {
    const auto got = ::read(device_.number(), record.data(), record.size());
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;  // EPIPE: some were lost
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      error_ = fmt::format("{}: {}", path_, got == 0 ? "has ended" : std::strerror(errno));
      device_.close();
      return;
    }
    sifter.take_record({record.data(), static_cast<std::size_t>(got)}, now.wall_s, now_us);
  }
}

}  // namespace schedmate::probe
