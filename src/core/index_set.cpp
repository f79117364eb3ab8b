// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <schedmate/cluster.hpp>

#include "base/check.hpp"

namespace schedmate {
namespace {
constexpr std::uint32_t word_bits = 64;
constexpr std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << (i % word_bits); }
}  // namespace

void IndexSet::resize(std::uint32_t capacity) {
  std::size_t depth = 0;
  for (std::uint32_t words = capacity;; ++depth) {
    words = (words + word_bits - 1) / word_bits;
    if (levels_.size() <= depth) {
      // A new top level summarises the one below, which so far was a single word.
      const bool occupied = depth > 0 && levels_[depth - 1][0] != 0;
      levels_.emplace_back(1, occupied ? 1 : 0);
    }
    if (levels_[depth].size() < words) levels_[depth].resize(words);
    if (words <= 1) return;
  }
}

void IndexSet::insert(std::uint32_t i) {
  for (auto& level : levels_) {
    level[i / word_bits] |= bit(i);
    i /= word_bits;
  }
}

void IndexSet::erase(std::uint32_t i) {
  for (auto& level : levels_) {
    level[i / word_bits] &= ~bit(i);
    if (level[i / word_bits] != 0) return;
    i /= word_bits;
  }
}

std::uint32_t IndexSet::next(std::uint32_t from) const {
  // Up until a word holds a member at or after the position, then down to the lowest one.
  for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
    if (from / word_bits >= levels_[depth].size()) return UINT32_MAX;
    const std::uint64_t rest =
        levels_[depth][from / word_bits] & (~std::uint64_t{0} << (from % word_bits));
    if (rest == 0) {
      from = from / word_bits + 1;
      continue;
    }
    std::uint32_t found =
        from / word_bits * word_bits + static_cast<std::uint32_t>(std::countr_zero(rest));
    while (depth > 0) {
      --depth;
      found =
          found * word_bits + static_cast<std::uint32_t>(std::countr_zero(levels_[depth][found]));
    }
    return found;
  }
  return UINT32_MAX;
}

}  // namespace schedmate
