// SPDX-License-Identifier: Apache-2.0
#include "store/top.hpp"

#include <thread>

namespace schedmate::store {

void in_pieces(std::uint64_t size, unsigned threads,
               const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& work) {
  constexpr std::uint64_t worth_a_thread = 16'384;
  const auto pieces = std::clamp<std::uint64_t>(size / worth_a_thread, 1, std::max(threads, 1U));
  std::vector<std::jthread> helpers;
  for (std::uint64_t i = 1; i < pieces; ++i) {
    helpers.emplace_back(
        [&work, i, size, pieces] { work(i, i * size / pieces, (i + 1) * size / pieces); });
  }
  work(0, 0, size / pieces);
}

}  // namespace schedmate::store
