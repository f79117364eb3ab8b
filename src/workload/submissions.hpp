// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is drawn of a template once, and what its resubmissions change.

#include <schedmate/workload.hpp>
#include <span>
#include <unordered_map>

#include "workload/vocabulary.hpp"

namespace schedmate::workload {

struct DrawnSubmission {
  DrawnModel model;
  std::uint32_t profile = 0;
  std::uint32_t seed = 0;
  std::uint32_t number = 0;  ///< submissions of the template so far
};

/// Goes through the rows of a trace in order.
class Submissions {
 public:
  Submissions(const Recipe& recipe, std::uint64_t seed);

  /// The next submission of a template.
  const DrawnSubmission& next(std::uint32_t project, std::int32_t gpus);

 private:
  void draw_first(std::uint32_t project, std::int32_t gpus, DrawnSubmission& drawn);
  void change(std::uint32_t project, DrawnSubmission& drawn) const;
  /// Models for a GPU count, and their weights.
  struct Candidates {
    std::vector<std::uint32_t> models;
    std::vector<double> weights;
  };
  const Candidates& candidates(std::int32_t gpus);
  [[nodiscard]] std::uint64_t key(std::uint32_t project, std::uint32_t number) const;

  const Recipe& recipe_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> first_profile_;  ///< of each model
  std::unordered_map<std::int32_t, Candidates> by_gpus_;
  std::vector<DrawnSubmission> drawn_;  ///< by template
};

}  // namespace schedmate::workload
