// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The best of many scored rows, and a search cut into pieces for several threads.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace schedmate::store {

struct ScoredRow {
  double score = 0;
  std::uint64_t row = 0;
};

/// Better first: higher score, then older row.
[[nodiscard]] inline bool is_better(const ScoredRow& a, const ScoredRow& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

/// Keeps the `count` best rows with a score above 0.
class TopRows {
 public:
  explicit TopRows(std::size_t count) : count_(count) {}

  void offer(double score, std::uint64_t row) {
    if (!(score > floor_)) return;  // rows come in rising order, so an equal one is not better
    heap_.push_back({score, row});
    std::ranges::push_heap(heap_, is_better);
    if (heap_.size() > count_) {
      std::ranges::pop_heap(heap_, is_better);
      heap_.pop_back();
    }
    if (heap_.size() == count_) floor_ = heap_.empty() ? 1e300 : heap_.front().score;
  }
  /// What a row has to exceed.
  [[nodiscard]] double floor() const { return floor_; }
  [[nodiscard]] std::vector<ScoredRow> best_first() && {
    std::ranges::sort(heap_, is_better);
    return std::move(heap_);
  }

 private:
  std::size_t count_;
  double floor_ = 0;
  std::vector<ScoredRow> heap_;  ///< worst in front
};

/// Calls `work(piece, begin, end)` for each piece of [0, size), one thread a piece; small sizes
/// stay in the calling thread.
void in_pieces(std::uint64_t size, unsigned threads,
               const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& work);

}  // namespace schedmate::store
