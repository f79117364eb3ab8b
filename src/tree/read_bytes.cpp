// SPDX-License-Identifier: Apache-2.0
#include "tree/read_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace schedmate::tree {
namespace {

constexpr int most_attempts = 3;

tl::unexpected<Error> too_large(const Opened& opened, std::uint64_t bytes, std::size_t most) {
  return fail(ErrorCode::invalid,
              fmt::format("{}: {} bytes; the limit is {}", opened.path, bytes, most));
}

bool same_state(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// From the start to the end or to `most` bytes.
Result<std::string> read_once(const Opened& opened, std::size_t expected, std::size_t most) {
  std::string bytes;
  std::size_t filled = 0;
  for (;;) {
    // One byte more than expected, so that the end shows without another round.
    if (filled == bytes.size()) bytes.resize(std::min(most, std::max(expected + 1, 2 * filled)));
    if (filled == most) return bytes;
    const ssize_t got = ::pread(opened.file.number(), bytes.data() + filled, bytes.size() - filled,
                                static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::refused,
                  fmt::format("{}: cannot be read: {}", opened.path, std::strerror(errno)));
    }
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

Result<FileBytes> read_bytes(const Opened& opened, std::size_t most) {
  FileBytes out;
  out.status = opened.status;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto size = static_cast<std::uint64_t>(out.status.st_size);
    if (size > most) return too_large(opened, size, most);
    auto bytes = read_once(opened, static_cast<std::size_t>(size), most + 1);
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->size() > most) return too_large(opened, bytes->size(), most);
    out.bytes = std::move(*bytes);
    struct stat after{};
    if (::fstat(opened.file.number(), &after) != 0) break;
    out.settled = same_state(out.status, after) && out.bytes.size() == size;
    if (out.settled || attempt + 1 == most_attempts) break;
    out.status = after;
  }
  return out;
}

}  // namespace schedmate::tree
