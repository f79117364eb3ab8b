// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Field by field: how alike two jobs are, and in what (paper 3.1). A difference in what decides
/// the duration beyond scaling (model and its size, data set, task, resolution, sequence length,
/// kind of run, method, variant) makes them different jobs whatever the rest says.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "advisor/fields.hpp"

namespace schedmate::advisor {

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
  bool same_kind = false;  ///< no decisive difference, and enough is known of both
};

[[nodiscard]] Match match_fields(const Fields& ours, const Fields& theirs);

/// The fields that count, found once: views into Fields that outlive it.
class FieldRow {
 public:
  static constexpr std::size_t size = 22;
  explicit FieldRow(const Fields& fields);
  [[nodiscard]] std::string_view at(std::size_t rule) const { return values_[rule]; }

 private:
  std::array<std::string_view, size> values_;
};

/// What a Match says, without the words.
struct Similarity {
  double score = 0;
  bool same_kind = false;
};
[[nodiscard]] Similarity similarity(const FieldRow& ours, const FieldRow& theirs);

/// "same model_name, dataset; batch_size 64 here, 32 there".
[[nodiscard]] std::string describe(const Match& match);

}  // namespace schedmate::advisor
