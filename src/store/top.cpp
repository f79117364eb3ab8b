// SPDX-License-Identifier: Apache-2.0
#include "store/top.hpp"

#include "base/threads.hpp"

namespace schedmate::store {

void in_pieces(std::uint64_t size, unsigned threads,
               const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& work) {
  constexpr std::uint64_t worth_a_thread = 16'384;
  const auto pieces = std::clamp<std::uint64_t>(size / worth_a_thread, 1, std::max(threads, 1U));
  run_on_threads(static_cast<std::int64_t>(pieces), [&](std::int64_t number) {
    const auto i = static_cast<std::uint64_t>(number);
    work(i, i * size / pieces, (i + 1) * size / pieces);
  });
}

}  // namespace schedmate::store
