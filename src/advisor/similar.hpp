// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Past jobs like this one (paper 3.1, Similar Job Retrieval): the nearest texts by vector, then
/// field by field. similar_jobs() of order_of_advice.hpp is the search itself.

#include <schedmate/search.hpp>
#include <string>
#include <vector>

#include "advisor/fields.hpp"

namespace schedmate::advisor {

struct SimilarityOptions {
  bool paper = false;       ///< plain cosine at the paper's threshold, nothing else
  double threshold = 0.70;  ///< of the mixed score; measured, bench/similar_labels.cpp
  std::size_t most = 16;    ///< jobs
  /// Cosine from which the embedder calls two texts similar; that of `lexical` is the measure.
  double similar_cosine = 0.70;
};

inline constexpr std::size_t nearest_texts = 64;  ///< the re-rank chooses among these
inline constexpr std::size_t jobs_of_a_text = 16;

/// 0.3 x cosine + 0.7 x fields (better than either on labelled jobs, bench/similar_labels.cpp).
/// Cosines of an embedder with another threshold are first stretched so that its threshold becomes
/// that of `lexical`: texts without anything in common have 0.6 and more with some models.
[[nodiscard]] double mixed_score(double cosine, double fields, double similar_cosine);

/// The threshold in effect.
[[nodiscard]] double threshold_of(const SimilarityOptions& options);

/// Where to look, and for what.
struct SimilarityQuery {
  Store& store;
  TextIndex& index;
  const Fields& fields;
  std::string_view without;  ///< this job is no neighbour of itself
};

struct FoundJob {
  JobRecord record;  ///< brief
  double score = 0;
};

/// Jobs of a store that have ended, best first, equal scores newest first. Errors: those of store
/// and embedder.
[[nodiscard]] Result<std::vector<FoundJob>> find_similar(const SimilarityQuery& query,
                                                         const SimilarityOptions& options);

}  // namespace schedmate::advisor
