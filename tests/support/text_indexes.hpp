// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Made-up embedders, jobs and texts, for tests of the search index.

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <schedmate/search.hpp>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate::testing {

/// One feature per word and one for its first letter.
inline std::vector<Feature> letters(std::string_view word) {
  return {{static_cast<std::uint32_t>(hash_bytes(word) & 0xFFFFU), 2},
          {static_cast<std::uint32_t>(word[0]), 1}};
}
inline Embedder sparse(const std::string& name = "letters") {
  return {.name = name, .threshold = 0.5, .features = letters, .embed = {}};
}

constexpr std::size_t dimensions = 100;

/// A unit vector that depends on the text; texts with the same first 3 letters are near.
inline std::vector<float> vector_of(const std::string& text) {
  Random cluster(hash_bytes(text.substr(0, 3)));
  Random own(hash_bytes(text));
  std::vector<float> values;
  for (std::size_t i = 0; i < dimensions; ++i) {
    values.push_back(static_cast<float>(cluster.normal() + 0.1 * own.normal()));
  }
  const float length =
      std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0F));
  for (float& value : values) value /= length;
  return values;
}
inline Embedder dense(int* calls = nullptr) {
  return {.name = "fake/1",
          .threshold = 0.9,
          .features = {},
          .embed = [calls](std::span<const std::string> texts) -> Result<DenseVectors> {
            if (calls != nullptr) ++*calls;
            DenseVectors vectors;
            for (const auto& text : texts) vectors.push_back(vector_of(text));
            return vectors;
          }};
}

inline JobRecord job(int number, const std::string& text) {
  auto record = full_record(number);
  record.text = text;
  return record;
}

/// Facts of made-up jobs in families, so that there are near and far ones.
inline std::string made_text(Random& random) {
  const auto family = random.below(40);
  std::string text = "model=m" + std::to_string(family) + " data=d" + std::to_string(family % 7);
  for (int i = 0; i < 4; ++i) {
    text += " k" + std::to_string(i) + "=" +
            std::to_string(random.below(3) == 0 ? random.below(50) : family);
  }
  return text;
}

inline void fill(Store& store, int jobs) {
  Random random(7);
  std::vector<JobRecord> records;
  for (int i = 0; i < jobs; ++i) records.push_back(job(i, made_text(random)));
  REQUIRE(store.put_many(records));
}

inline std::unique_ptr<TextIndex> open_refreshed(Store& store, const Embedder& embedder,
                                                 const std::string& folder) {
  auto index = open_index(store, embedder, {.folder = folder});
  REQUIRE(index.has_value());
  REQUIRE((*index)->refresh());
  return std::move(*index);
}

}  // namespace schedmate::testing
