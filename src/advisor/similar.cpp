// SPDX-License-Identifier: Apache-2.0
#include "advisor/similar.hpp"

#include <algorithm>
#include <schedmate/paper.hpp>

#include "advisor/order_of_advice.hpp"
#include "advisor/stored_jobs.hpp"

namespace schedmate::advisor {

double mixed_score(double cosine, double fields, double similar_cosine) {
  constexpr double cosine_share = 0.3;
  constexpr double measure = 0.70;
  const double threshold = std::clamp(similar_cosine, 0.01, 0.99);
  const double stretched = cosine < threshold
                               ? measure * cosine / threshold
                               : measure + (1 - measure) * (cosine - threshold) / (1 - threshold);
  return cosine_share * std::clamp(stretched, 0.0, 1.0) + (1 - cosine_share) * fields;
}

double threshold_of(const SimilarityOptions& options) {
  return options.paper ? paper::similarity_threshold : options.threshold;
}

Result<std::vector<FoundJob>> find_similar(const SimilarityQuery& query,
                                           const SimilarityOptions& options) {
  Submission ours;
  ours.id = query.without;
  StoredJobs jobs(query.store, query.index, {ours, query.fields, FlagRules::built_in()});
  auto similar = similar_jobs(jobs, options);
  if (!similar) return tl::unexpected(similar.error());
  std::vector<FoundJob> found;
  for (auto& [job, score] : *similar) found.push_back({std::move(job), score});
  return found;
}

}  // namespace schedmate::advisor
