// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gradient boosted regression trees (Chen and Guestrin, KDD'16): XGBoost's C interface, as far as
/// the estimator `gbdt` needs it. One thread and no drawing, so equal examples give equal trees.
/// XGBoost fits them; they are walked through here, since a question of one row takes it a hundred
/// times as long.

#include <cstddef>
#include <cstdint>
#include <schedmate/result.hpp>
#include <span>
#include <vector>

namespace schedmate::policy {

/// Fitted trees. Threads may ask them at once.
class Gbdt {
 public:
  /// `features` row by row, as many rows as `targets`; NaN: unknown.
  struct Examples {
    std::span<const float> features;
    std::span<const float> targets;
  };
  /// Errors: invalid when there are no examples, rows differ in length or a target is not finite;
  /// unavailable with XGBoost's own words when it gives up.
  [[nodiscard]] static Result<Gbdt> fit(const Examples& examples);
  /// The mean target of rows like this one. Errors: as above, for a row of another length.
  [[nodiscard]] Result<float> predict(std::span<const float> row) const;

  /// A split, or a leaf with its value.
  struct Node {
    float value = 0;  ///< of a leaf; of a split what its feature is compared with
    std::uint32_t feature = 0;
    std::uint32_t below = 0, above = 0, unknown = 0;  ///< where to go on; 0 = a leaf
    [[nodiscard]] bool is_leaf() const { return below == 0; }
  };

 private:
  Gbdt(std::size_t width, float mean) : width_(width), mean_(mean) {}
  static Result<Gbdt> printed(void* booster, std::size_t width, float mean);

  std::size_t width_;
  float mean_;
  std::vector<Node> nodes_;  // of all trees, each after its parent
  std::vector<std::uint32_t> roots_;
};

}  // namespace schedmate::policy
