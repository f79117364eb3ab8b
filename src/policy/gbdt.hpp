// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gradient boosted regression trees (Chen and Guestrin, KDD'16): XGBoost's C interface, as far as
/// the estimator `gbdt` needs it. One thread and no drawing, so equal examples give equal trees.

#include <cstddef>
#include <memory>
#include <schedmate/result.hpp>
#include <span>
#include <utility>

namespace schedmate {

/// Fitted trees. They never change, so copies share them and threads may ask them at once.
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

 private:
  Gbdt(std::shared_ptr<void> booster, std::size_t width)
      : booster_(std::move(booster)), width_(width) {}

  std::shared_ptr<void> booster_;
  std::size_t width_;
};

}  // namespace schedmate
