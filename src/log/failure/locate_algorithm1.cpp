// SPDX-License-Identifier: Apache-2.0

/// `algorithm1`: the paper's binary search, exactly as published. The log is cut into chunks of 20
/// whole lines; a chunk is a failure when one of its lines is. The search returns inside its loop
/// as soon as one chunk is left, and believes that every chunk behind the first failure is one,
/// too.
///
/// One departure (docs/decisions/0010): `<= 2` would call progress lines a failure, so only class 0
/// counts. What is returned is the chunk's first failure line.

#include "log/failure/locate.hpp"
#include "log/lines/line_blocks.hpp"

namespace schedmate::failure {
namespace {

constexpr std::size_t chunk_lines = 20;

class Chunks {
 public:
  Chunks(const lines::LineBlocks& blocks, LineKinds& kinds) : blocks_(blocks), kinds_(kinds) {}

  [[nodiscard]] std::ptrdiff_t count() const {
    return static_cast<std::ptrdiff_t>(blocks_.count());
  }
  /// The first failure line of a chunk.
  [[nodiscard]] std::optional<FailureLine> failure_in(std::ptrdiff_t chunk) {
    std::optional<FailureLine> found;
    blocks_.each_line_of(static_cast<std::size_t>(chunk), [&](const lines::Line& line) {
      for (const auto state : lines::states_of(lines::without_escapes(line.text, scratch_))) {
        const LineVerdict verdict = kinds_.of(state);
        if (verdict.kind != LineKind::failure) continue;
        found = failure_line(state, verdict);
        found->line = found->begins = line.number;
        return false;
      }
      return true;
    });
    return found;
  }

 private:
  const lines::LineBlocks& blocks_;
  LineKinds& kinds_;
  std::string scratch_;
};

/// Algorithm 1; the names are the paper's.
std::optional<FailureLine> search(Chunks& chunks) {
  std::ptrdiff_t start = 0;
  std::ptrdiff_t end = chunks.count() - 1;
  while (start <= end) {
    const std::ptrdiff_t mid = (start + end) / 2;
    if (start >= end) return chunks.failure_in(start);
    if (chunks.failure_in(mid))
      end = mid;
    else
      start = mid + 1;
  }
  return std::nullopt;
}

}  // namespace

Result<Located> locate_algorithm1(const LocateInput& input) {
  Located located;
  for (std::size_t file = 0; file < input.paths.size() && !located.root; ++file) {
    const auto blocks = lines::LineBlocks::open({input.paths[file], input.access}, chunk_lines);
    if (!blocks) return tl::unexpected(blocks.error());
    if (!blocks->fault().empty())
      located.cut_short.push_back({ErrorCode::invalid, blocks->fault()});
    Chunks chunks(*blocks, input.kinds);
    located.lines += blocks->lines();
    located.root = search(chunks);
    if (located.root) located.root->file = file;
  }
  return located;
}

}  // namespace schedmate::failure
