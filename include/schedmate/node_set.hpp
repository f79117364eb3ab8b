// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Some of the nodes of one virtual cluster, by index. A value.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace schedmate {

class NodeSet {
 public:
  void insert(std::uint32_t node) {
    if (has(node)) return;
    const std::size_t word = node / bits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << node % bits;
    ++size_;
  }
  [[nodiscard]] bool has(std::uint32_t node) const {
    const std::size_t word = node / bits;
    return word < words_.size() && (words_[word] >> node % bits & 1U) != 0;
  }
  [[nodiscard]] int size() const { return size_; }

 private:
  static constexpr std::uint32_t bits = 64;
  std::vector<std::uint64_t> words_;
  int size_ = 0;
};

}  // namespace schedmate
