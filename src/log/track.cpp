// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "log/lines.hpp"
#include "log/tracker.hpp"

namespace schedmate {
namespace {

constexpr std::size_t first_bytes = std::size_t{1} << 18U;
constexpr std::size_t most_bytes = std::size_t{1} << 24U;
constexpr std::uint64_t enough_lines = 64;

}  // namespace

Result<Progress> track(const std::string& path) {
  for (std::size_t bytes = first_bytes;; bytes *= 8) {
    const auto tail = tail_of(path, bytes);
    if (!tail) return tl::unexpected(tail.error());
    ProgressTracker tracker;
    each_line_of(tail->text, [&](const Line& line) {
      tracker.add(line.text);
      return true;
    });
    if (tail->complete || tracker.lines() >= enough_lines || bytes >= most_bytes)
      return tracker.now();
  }
}

}  // namespace schedmate
