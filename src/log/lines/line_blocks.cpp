// SPDX-License-Identifier: Apache-2.0
#include "log/lines/line_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/deadline.hpp"
#include "base/input.hpp"

namespace schedmate::lines {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 18U;
constexpr std::size_t most_held = std::size_t{1} << 28U;

}  // namespace

/// The next bytes of the log: where blocks begin in them.
void LineBlocks::index(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (!begun_) {
      if (lines_ % lines_each_ == 0) begins_.push_back(bytes_ + at);
      ++lines_;
      begun_ = true;
    }
    const auto end = bytes.find('\n', at);
    if (end == std::string_view::npos) break;
    begun_ = false;
    at = end + 1;
  }
  bytes_ += bytes.size();
}

Result<void> LineBlocks::index_file(const ForeignPath& path) {
  const ReadBudget& budget = path.access.budget;
  const Deadline deadline(budget.reading);
  std::string buffer(piece_bytes, '\0');
  while (bytes_ < budget.first_bytes + budget.last_bytes && !deadline.passed()) {
    const auto got = file_->read_at(buffer, bytes_);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return {};
    index(std::string_view(buffer).substr(0, *got));
  }
  if (path.access.note)
    path.access.note(
        fmt::format("{}: read the first {}; the rest was not read", path.name, in_bytes(bytes_)));
  return {};
}

Result<LineBlocks> LineBlocks::open(const ForeignPath& path, std::size_t lines_each) {
  LineBlocks blocks(lines_each);
  auto file = open_text(path);
  if (!file) return tl::unexpected(file.error());
  if (is_plain(*file)) {
    blocks.file_ = std::move(*file);
    if (auto done = blocks.index_file(path); !done) return tl::unexpected(done.error());
    return blocks;
  }
  auto held = tail_of(std::move(*file), path, most_held);
  if (!held) return tl::unexpected(held.error());
  if (!held->complete)
    return fail(ErrorCode::unsupported,
                fmt::format("{}: algorithm1 keeps the text of a compressed or UTF-16 log in "
                            "memory, up to {} MiB; use scan, or decompress it",
                            path.name, most_held >> 20U));
  blocks.text_ = std::move(held->text);
  blocks.fault_ = std::move(held->fault);
  blocks.index(blocks.text_);
  return blocks;
}

void LineBlocks::each_line_of(std::size_t block, const TakeLine& take) const {
  const auto begin = begins_[block];
  const auto end = block + 1 < begins_.size() ? begins_[block + 1] : bytes_;
  LineCutter lines(take, block * lines_each_);
  if (!file_) {
    if (lines.add(std::string_view(text_).substr(begin, end - begin))) lines.finish();
    return;
  }
  std::string buffer(std::min<std::uint64_t>(end - begin, piece_bytes), '\0');
  for (auto at = begin; at < end;) {
    buffer.resize(std::min<std::uint64_t>(end - at, piece_bytes));
    const auto got = file_->read_at(buffer, at);
    if (!got || *got == 0) break;
    const auto piece = std::string_view(buffer).substr(0, *got);
    if (!lines.add(at == 0 ? without_mark(piece) : piece)) return;
    at += *got;
  }
  lines.finish();
}

}  // namespace schedmate::lines
