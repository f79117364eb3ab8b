// SPDX-License-Identifier: Apache-2.0
#include "log/lines/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/deadline.hpp"
#include "base/input.hpp"
#include "log/lines/utf16.hpp"

namespace schedmate::lines {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18U;
constexpr std::string_view utf8_mark = "\xef\xbb\xbf";

using TakeChunk = std::function<bool(std::string_view)>;

bool is_plain_head(std::string_view head) {
  return !head.starts_with("\x1f\x8b") && !head.starts_with("\x28\xb5\x2f\xfd") &&
         utf16_kind(head) == 0;
}

void note(const ForeignPath& path, const std::string& what) {
  if (path.access.note) path.access.note(fmt::format("{}: {}", path.name, what));
}

/// The bytes of a file as UTF-8 or whatever they are, chunk by chunk, from its beginning to its end
/// or to that of the budget.
Result<void> each_chunk(ForeignFile opened, const ForeignPath& path, const TakeChunk& take) {
  const ReadBudget& budget = path.access.budget;
  const Deadline deadline(budget.reading);
  auto file = InputFile::of_bytes(std::move(opened), path.name);
  if (!file) return tl::unexpected(file.error());
  std::string buffer(chunk_bytes, '\0');
  std::string decoded;
  std::unique_ptr<Utf16> utf16;
  std::uint64_t bytes = 0;
  for (bool first = true;; first = false) {
    const auto got = file->read(buffer);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return {};
    std::string_view chunk(buffer.data(), *got);
    bytes += chunk.size();
    if (const int kind = first ? utf16_kind(chunk) : 0; kind != 0)
      utf16 = std::make_unique<Utf16>(kind == 2);
    if (first) chunk = without_mark(chunk);
    if (utf16 != nullptr) {
      decoded.clear();
      utf16->add(chunk, decoded);
      chunk = decoded;
    }
    if (!take(chunk)) return {};
    if (bytes >= budget.first_bytes + budget.last_bytes || deadline.passed()) {
      note(path,
           fmt::format("read the first {} of its text; the rest was not read", in_bytes(bytes)));
      return {};
    }
  }
}

/// A plain file within its budget: its beginning, and its end by a seek.
class TwoParts {
 public:
  TwoParts(ForeignFile& file, const ForeignPath& path, LineCutter& lines)
      : file_(file), path_(path), budget_(path.access.budget), lines_(lines) {}

  Result<void> read() {
    const auto status = file_.status();
    if (!status) return tl::unexpected(status.error());
    const auto size = static_cast<std::uint64_t>(status->st_size);
    const std::uint64_t all = budget_.first_bytes + budget_.last_bytes;
    const auto end = part({0, size <= all ? all : budget_.first_bytes, budget_.lines});
    if (!end || !*end) return end.map([](const auto& cut) { static_cast<void>(cut); });
    const std::uint64_t from = begin_of_last(**end, size);
    if (from > **end) {
      lines_.finish();
      note(path_,
           fmt::format("read the first {} and the last {} of {}; lines behind the gap are "
                       "numbered on from there",
                       in_bytes(**end), in_bytes(size - std::min(from, size)), in_bytes(size)));
    }
    at_line_start_ = from == **end;
    const auto last = part({from, budget_.last_bytes + chunk_bytes, any_number});
    if (!last) return tl::unexpected(last.error());
    if (*last) note(path_, "its end was not read: it grows, or is read too slowly");
    return {};
  }

 private:
  static constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max() / 2;
  struct Part {
    std::uint64_t from, bytes, lines;
  };
  /// Reads up to so many bytes or lines. Gives where the budget ended; nothing at the end of the
  /// file or when the taker has enough.
  Result<std::optional<std::uint64_t>> part(const Part& asked) {
    const auto [from, bytes, lines] = asked;
    const Deadline deadline(budget_.reading);
    const std::uint64_t most_lines = lines_.lines() + lines;
    std::string buffer(chunk_bytes, '\0');
    for (std::uint64_t at = from; at - from < bytes;) {
      const auto wanted = std::min<std::uint64_t>(buffer.size(), bytes - (at - from));
      const auto got = file_.read_at(std::span(buffer).first(wanted), at);
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) return std::nullopt;
      std::string_view chunk(buffer.data(), *got);
      if (at == 0) chunk = without_mark(chunk);
      if (!std::exchange(at_line_start_, true))
        chunk.remove_prefix(chunk.find('\n') + 1);  // none: the line has no beginning
      if (!lines_.add(chunk)) return std::nullopt;
      at += *got;
      if (lines_.lines() >= most_lines || deadline.passed()) return at;
    }
    return from + bytes;
  }

  /// Where the last bytes or lines of the budget begin, read backwards.
  std::uint64_t begin_of_last(std::uint64_t end_of_first, std::uint64_t size) {
    const Deadline deadline(budget_.reading);
    const std::uint64_t floor = std::max(end_of_first, size - std::min(size, budget_.last_bytes));
    std::string buffer(chunk_bytes, '\0');
    std::uint64_t lines = 0;
    std::uint64_t at = std::max(size, floor);
    while (at > floor && lines < budget_.lines && !deadline.passed()) {
      const auto wanted = std::min<std::uint64_t>(buffer.size(), at - floor);
      const auto got = file_.read_at(std::span(buffer).first(wanted), at - wanted);
      if (!got) break;
      lines += static_cast<std::uint64_t>(std::count(buffer.data(), buffer.data() + *got, '\n'));
      at -= wanted;
    }
    return at;
  }

  ForeignFile& file_;
  const ForeignPath& path_;
  const ReadBudget& budget_;
  LineCutter& lines_;
  bool at_line_start_ = true;
};

void cut_to_line_start(Tail& tail) {
  if (tail.complete) return;
  const auto end = tail.text.find('\n');
  if (end != std::string::npos) tail.text.erase(0, end + 1);
}

Result<Tail> read_through(ForeignFile file, const ForeignPath& path, std::size_t bytes) {
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
  const auto done = each_chunk(std::move(file), path, keep);
  // A compressed log that is still written ends early; what there is counts.
  if (!done && tail.text.empty()) return tl::unexpected(done.error());
  if (!done) tail.fault = done.error().message;
  cut_to_line_start(tail);
  return tail;
}

/// Through text that cannot be skipped.
Result<void> read_lines_through(ForeignFile file, const ForeignPath& path, LineCutter& lines) {
  const std::uint64_t most = 2 * path.access.budget.lines;
  return each_chunk(std::move(file), path, [&](std::string_view chunk) {
    if (!lines.add(chunk)) return false;
    if (lines.lines() < most) return true;
    note(path, fmt::format("read the first {} lines; the rest was not read", lines.lines()));
    return false;
  });
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

bool is_plain(ForeignFile& file) {
  if (file.is_pipe()) return false;
  std::string head(4, '\0');
  const auto got = file.read_at(head, 0);
  return got && is_plain_head(std::string_view(head).substr(0, *got));
}

std::string in_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return fmt::format("{:.4g} {}", amount, units.at(unit));
}

std::string_view without_mark(std::string_view text) {
  return text.starts_with(utf8_mark) ? text.substr(utf8_mark.size()) : text;
}

Result<void> each_line(const ForeignPath& path, const TakeLine& take, std::uint64_t first) {
  auto file = open_text(path);
  if (!file) return tl::unexpected(file.error());
  LineCutter lines(take);
  lines.begin_at(first);
  auto done = is_plain(*file) ? TwoParts(*file, path, lines).read()
                              : read_lines_through(std::move(*file), path, lines);
  lines.finish();
  return done;
}

void each_line_of(std::string_view text, const TakeLine& take) {
  LineCutter lines(take);
  if (lines.add(text)) lines.finish();
}

Result<Tail> tail_of(const ForeignPath& path, std::size_t bytes) {
  return open_text(path).and_then(
      [&](ForeignFile file) { return tail_of(std::move(file), path, bytes); });
}

Result<Tail> tail_of(ForeignFile file, const ForeignPath& path, std::size_t bytes) {
  if (!is_plain(file)) return read_through(std::move(file), path, bytes);
  const auto status = file.status();
  if (!status) return tl::unexpected(status.error());
  const auto size = static_cast<std::uint64_t>(status->st_size);
  Tail tail;
  tail.complete = size <= bytes;
  tail.text.resize(std::min<std::uint64_t>(size, bytes));
  const auto got = file.read_at(tail.text, size - tail.text.size());
  if (!got) return tl::unexpected(got.error());
  tail.text.resize(*got);
  if (tail.complete && tail.text.starts_with(utf8_mark)) tail.text.erase(0, utf8_mark.size());
  cut_to_line_start(tail);
  return tail;
}

}  // namespace schedmate::lines
