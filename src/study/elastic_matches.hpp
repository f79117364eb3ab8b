// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the Advisor would find similar among elastic jobs (paper 4.2). Their metadata is made: each
/// application says what its code is like, and the Advisor reads it with the measured extraction
/// errors, each job on its own as if it came from another repository. There are no directories,
/// commands and users to go by.

#include <schedmate/recipe.hpp>
#include <schedmate/result.hpp>

#include "elastic/bootstrap.hpp"

namespace schedmate::study {

struct ElasticMatchInput {
  const elastic::ElasticWorkload& workload;
  const ExtractionErrors& errors;
  double error_scale = 1;  ///< times the measured rates
  std::uint64_t seed = 1;  ///< of what is misread
};

/// For each job the earlier ones that find_similar() (advisor/similar.hpp) gives, best first.
/// Errors: unsupported for an application without a model.
[[nodiscard]] Result<elastic::SimilarJobs> advisor_matches(const ElasticMatchInput& input);

}  // namespace schedmate::study
