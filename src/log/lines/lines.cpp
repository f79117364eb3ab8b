// SPDX-License-Identifier: Apache-2.0
#include "log/lines/lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/input.hpp"
#include "log/lines/utf16.hpp"

namespace schedmate::lines {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18U;
constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

using TakeChunk = std::function<bool(std::string_view)>;

/// The bytes of a file as UTF-8 or whatever they are, chunk by chunk.
Result<void> each_chunk(const std::string& path, const TakeChunk& take) {
  auto file = InputFile::open_bytes(path);
  if (!file) return tl::unexpected(file.error());
  std::string buffer(chunk_bytes, '\0');
  std::string decoded;
  std::unique_ptr<Utf16> utf16;
  for (bool first = true;; first = false) {
    const auto got = file->read(buffer);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return {};
    std::string_view chunk(buffer.data(), *got);
    if (const int kind = first ? utf16_kind(chunk) : 0; kind != 0)
      utf16 = std::make_unique<Utf16>(kind == 2);
    if (first) chunk = without_mark(chunk);
    if (utf16 != nullptr) {
      decoded.clear();
      utf16->add(chunk, decoded);
      chunk = decoded;
    }
    if (!take(chunk)) return {};
  }
}

bool is_plain(std::string_view head) {
  return !head.starts_with("\x1f\x8b") && !head.starts_with("\x28\xb5\x2f\xfd") &&
         utf16_kind(head) == 0;
}

void cut_to_line_start(Tail& tail) {
  if (tail.complete) return;
  const auto end = tail.text.find('\n');
  if (end != std::string::npos) tail.text.erase(0, end + 1);
}

Result<Tail> read_through(const std::string& path, std::size_t bytes) {
  Tail tail;
  tail.complete = true;
  const auto keep = [&](std::string_view chunk) {
    tail.text += chunk;
    if (tail.text.size() > 2 * bytes + 2 * chunk_bytes) {
      tail.text.erase(0, tail.text.size() - bytes);
      tail.complete = false;
    }
    return true;
  };
  const auto done = each_chunk(path, keep);
  // A compressed log that is still written ends early; what there is counts.
  if (!done && tail.text.empty()) return tl::unexpected(done.error());
  if (!done) tail.fault = done.error().message;
  cut_to_line_start(tail);
  return tail;
}

}  // namespace

bool LineCutter::add(std::string_view piece) {
  skip(piece);
  while (!piece.empty()) {
    const auto end = piece.find('\n');
    const bool ends = end != std::string_view::npos;
    const auto part = piece.substr(0, end);
    piece.remove_prefix(ends ? end + 1 : piece.size());
    if (!ends || started_) {
      carry_.append(part.substr(0, most_line_bytes - carry_.size()));
      started_ = true;
    }
    if (ends && !give(started_ ? std::string_view(carry_) : part)) return false;
  }
  return true;
}

/// Drops lines, or the beginning of one, that nobody wants.
void LineCutter::skip(std::string_view& piece) {
  while (number_ + 1 < first_ && !piece.empty()) {
    const auto end = piece.find('\n');
    if (end == std::string_view::npos) {
      piece = {};
      return;
    }
    piece.remove_prefix(end + 1);
    ++number_;
  }
}

void LineCutter::finish() {
  if (started_) give(carry_);
}

bool LineCutter::give(std::string_view text) {
  const bool more = take_({++number_, text.substr(0, most_line_bytes)});
  carry_.clear();
  started_ = false;
  return more;
}

Descriptor open_plain(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  const bool regular = file && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
  std::string head(4, '\0');
  if (regular) head.resize(read_at(file, head, 0));
  return regular && is_plain(head) ? std::move(file) : Descriptor();
}

std::size_t read_at(const Descriptor& file, std::string& out, std::uint64_t offset) {
  std::size_t have = 0;
  while (have < out.size()) {
    const auto got = ::pread(file.number(), out.data() + have, out.size() - have,
                             static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

std::string_view without_mark(std::string_view text) {
  return text.starts_with(utf8_mark) ? text.substr(utf8_mark.size()) : text;
}

Result<void> each_line(const std::string& path, const TakeLine& take, std::uint64_t first) {
  LineCutter lines(take);
  lines.begin_at(first);
  auto done = each_chunk(path, [&](std::string_view chunk) { return lines.add(chunk); });
  lines.finish();
  return done;
}

void each_line_of(std::string_view text, const TakeLine& take) {
  LineCutter lines(take);
  if (lines.add(text)) lines.finish();
}

Result<Tail> tail_of(const std::string& path, std::size_t bytes) {
  const auto file = open_plain(path);
  struct stat status{};
  if (!file || ::fstat(file.number(), &status) != 0)
    return read_through(path, bytes);  // says what is wrong, too
  const auto size = static_cast<std::uint64_t>(status.st_size);
  Tail tail;
  tail.complete = size <= bytes;
  tail.text.resize(std::min<std::uint64_t>(size, bytes));
  tail.text.resize(read_at(file, tail.text, size - tail.text.size()));
  if (tail.complete && tail.text.starts_with(utf8_mark)) tail.text.erase(0, utf8_mark.size());
  cut_to_line_start(tail);
  return tail;
}

}  // namespace schedmate::lines
