// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A set in order that is cheap to copy and to walk: short sorted arrays, one after the other.
/// Adding and removing costs one of them, a copy no more than its memory. All values differ.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <vector>

#include "base/check.hpp"

namespace schedmate::policy {

template <class Value>
class SortedChunks {
 public:
  class Iterator {
   public:
    explicit Iterator(const std::vector<std::vector<Value>>& chunks) : chunks_(chunks) {}
    const Value& operator*() const { return chunks_[chunk_][place_]; }
    Iterator& operator++() {
      if (++place_ == chunks_[chunk_].size()) {
        ++chunk_;
        place_ = 0;
      }
      return *this;
    }
    bool operator==(std::default_sentinel_t /*end*/) const { return chunk_ == chunks_.size(); }

   private:
    const std::vector<std::vector<Value>>& chunks_;
    std::size_t chunk_ = 0, place_ = 0;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(chunks_); }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// There must be one.
  [[nodiscard]] const Value& front() const { return chunks_.front().front(); }
  /// From 0; there must be so many.
  [[nodiscard]] const Value& at(std::size_t place) const {
    auto chunk = chunks_.begin();
    for (; place >= chunk->size(); ++chunk) place -= chunk->size();
    return (*chunk)[place];
  }

  void insert(const Value& value) {
    if (chunks_.empty()) chunks_.emplace_back();
    const auto chunk = chunk_of(value);
    chunk->insert(std::ranges::lower_bound(*chunk, value, std::less<>()), value);
    ++size_;
    constexpr std::size_t longest = 256;
    if (chunk->size() < longest) return;
    const auto half = chunk->begin() + longest / 2;
    std::vector<Value> rest(half, chunk->end());
    chunk->erase(half, chunk->end());
    chunks_.insert(chunk + 1, std::move(rest));
  }

  /// It must be there.
  void erase(const Value& value) {
    SCHEDMATE_CHECK(size_ > 0, "the value is there");
    const auto chunk = chunk_of(value);
    const auto place = std::ranges::lower_bound(*chunk, value, std::less<>());
    SCHEDMATE_CHECK(place != chunk->end() && !(value < *place), "the value is there");
    chunk->erase(place);
    --size_;
    if (chunk->empty()) chunks_.erase(chunk);
  }

 private:
  /// The last one that does not begin after it, or the first.
  auto chunk_of(const Value& value) {
    const auto after = std::ranges::partition_point(
        chunks_, [&](const auto& chunk) { return chunk.empty() || !(value < chunk.front()); });
    return after == chunks_.begin() ? after : after - 1;
  }

  std::vector<std::vector<Value>> chunks_;  // none empty, in order
  std::size_t size_ = 0;
};

}  // namespace schedmate::policy
