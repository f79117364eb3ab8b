// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines of a log as sparse vectors, by the words of their templates.

#include <cstddef>
#include <cstdint>
#include <map>
#include <schedmate/embed.hpp>
#include <span>
#include <string_view>

namespace schedmate::failure {

/// Bucket of a feature -> its weight.
using Sparse = std::map<std::uint32_t, float>;

/// Of a line that is embedded, in bytes; what follows says no more.
constexpr std::size_t most_embedded_text = 512;

/// Of a sparse embedder. Letters and signs are words, a number is "#": what two lines of one event
/// share.
[[nodiscard]] Sparse sparse_of(const Embedder& embedder, std::string_view line);

/// Weighs by rarity among `all`, to unit length; unknown features weigh as the rarest.
class Rarity {
 public:
  explicit Rarity(std::span<const Sparse> all);
  [[nodiscard]] Sparse weighed(const Sparse& vector) const;

 private:
  std::map<std::uint32_t, float> weights_;
  float unknown_ = 0;
};

/// Of unit vectors: their cosine.
[[nodiscard]] double dot(const Sparse& one, const Sparse& other);

}  // namespace schedmate::failure
