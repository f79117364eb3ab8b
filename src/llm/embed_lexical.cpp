// SPDX-License-Identifier: Apache-2.0
/// The embedder without a model. A word "key=value" has a feature for the whole of it, which counts
/// twice, and one for each three neighbouring characters of the value, so that "resnet50" and
/// "resnet-50" are near. Measured on the labelled jobs (docs/store.md) against keyed trigrams,
/// parts of words and other weights: this finds most when facts are missing or spelt differently.
#include <algorithm>
#include <map>

#include "base/characters.hpp"
#include "base/hash.hpp"
#include "llm/embedders.hpp"

namespace schedmate::llm {
namespace {

constexpr std::uint64_t word_seed = 1;
constexpr std::uint64_t trigram_seed = 2;
constexpr std::size_t longest_word = 512;

std::uint32_t bucket_of(std::string_view text, std::uint64_t seed) {
  return static_cast<std::uint32_t>(hash_bytes(text, seed) >> 48U);
}

std::vector<Feature> features_of(std::string_view text) {
  std::string word(text.substr(0, longest_word));
  std::ranges::transform(word, word.begin(), lower);
  std::map<std::uint32_t, float> counts;
  counts[bucket_of(word, word_seed)] += 2;
  const auto sign = word.find('=');
  const auto value = '^' + word.substr(sign == std::string::npos ? 0 : sign + 1) + '$';
  for (std::size_t i = 0; i + 3 <= value.size(); ++i) {
    counts[bucket_of(std::string_view(value).substr(i, 3), trigram_seed)] += 1;
  }
  std::vector<Feature> features;
  for (const auto& [bucket, count] : counts) features.push_back({bucket, count});
  return features;
}

}  // namespace

Result<Embedder> make_lexical_embedder(const EmbedderOptions& options) {
  return Embedder{.name = "lexical-1",
                  .threshold = options.threshold.value_or(0.70),
                  .features = features_of,
                  .embed = {}};
}

}  // namespace schedmate::llm
