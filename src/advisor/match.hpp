// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Field by field: how alike two jobs are, and in what (design 5.2). A difference in what decides
/// the duration beyond scaling (model and its size, data set, task, resolution, sequence length,
/// kind of run) makes them different jobs whatever the rest says.

#include <string>
#include <vector>

#include "advisor/fields.hpp"

namespace schedmate {

struct FieldDifference {
  std::string field;
  std::string ours, theirs;
  bool decisive = false;  ///< makes it another job
  bool operator==(const FieldDifference&) const = default;
};

struct Match {
  double score = 0;  ///< 0 to 1: weighted share of agreement
  std::vector<std::string> agreeing;
  std::vector<FieldDifference> differing;
  /// No decisive difference, and the model or the data set is known of both.
  [[nodiscard]] bool same_kind() const;
};

[[nodiscard]] Match match_fields(const Fields& ours, const Fields& theirs);

/// "same model_name, dataset; batch_size 64 here, 32 there".
[[nodiscard]] std::string describe(const Match& match);

}  // namespace schedmate
