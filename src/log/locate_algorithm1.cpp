// SPDX-License-Identifier: Apache-2.0

/// `algorithm1`: the paper's binary search, exactly as published. The log is cut into chunks of 20
/// whole lines; a chunk is a failure when one of its lines is. The search returns inside its loop
/// as soon as one chunk is left, and believes that every chunk behind the first failure is one,
/// too.
///
/// One departure, as design.md section 8 takes it: `<= 2` would call progress lines a failure, so
/// only class 0 counts. What is returned is the chunk's first failure line.

#include <fmt/format.h>

#include "log/lines.hpp"
#include "log/locate.hpp"

namespace schedmate {
namespace {

constexpr std::size_t chunk_lines = 20;
constexpr std::size_t most_bytes = std::size_t{1} << 28U;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, std::min(end, most_line_bytes)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

class Chunks {
 public:
  Chunks(std::string_view text, LineKinds& kinds) : lines_(lines_of(text)), kinds_(kinds) {}

  [[nodiscard]] std::size_t lines() const { return lines_.size(); }
  [[nodiscard]] std::ptrdiff_t count() const {
    return static_cast<std::ptrdiff_t>((lines_.size() + chunk_lines - 1) / chunk_lines);
  }
  /// The first failure line of a chunk.
  [[nodiscard]] std::optional<FailureLine> failure_in(std::ptrdiff_t chunk) {
    const auto begin = static_cast<std::size_t>(chunk) * chunk_lines;
    for (auto at = begin; at < std::min(begin + chunk_lines, lines_.size()); ++at) {
      for (const auto state : states_of(without_escapes(lines_[at], scratch_))) {
        const LineVerdict verdict = kinds_.of(state);
        if (verdict.kind != LineKind::failure) continue;
        auto found = failure_line(state, verdict);
        found.line = found.begins = at + 1;
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<std::string_view> lines_;
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
    const auto log = tail_of(input.paths[file], most_bytes);
    if (!log) return tl::unexpected(log.error());
    if (!log->complete)
      return fail(
          ErrorCode::unsupported,
          fmt::format("{}: algorithm1 needs the whole log in memory, up to {} MiB; use scan",
                      input.paths[file], most_bytes >> 20U));
    Chunks chunks(log->text, input.kinds);
    located.lines += chunks.lines();
    located.root = search(chunks);
    if (located.root) located.root->file = file;
  }
  return located;
}

}  // namespace schedmate
