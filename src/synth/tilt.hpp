// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Weights of least information: those closest to given ones (Kullback-Leibler) whose moments are
/// the targets (Csiszar 1975; exponential tilting, raking). Targets may contradict each other: each
/// has a tolerance, and what cannot be met is missed in proportion to it (squared).

#include <cstdint>
#include <vector>

namespace schedmate::synth {

struct Moment {
  double target = 0;     ///< of the weighted sum of the feature
  double tolerance = 0;  ///< standard error, above 0
};

struct TiltFeature {
  std::uint32_t moment = 0;
  double value = 0;
};

class Tilt {
 public:
  /// Index of the new moment.
  std::uint32_t moment(Moment moment);
  void loosen(std::uint32_t moment, double tolerance) { moments_[moment].tolerance = tolerance; }
  /// A cell with its prior weight (0 or more) and its features, each moment at most once.
  void cell(double prior, const std::vector<TiltFeature>& features);
  /// One more feature of a cell that is there.
  void extend(std::size_t cell, TiltFeature feature) { features_[cell].push_back(feature); }

  /// A weight for each cell, the sum 1. Newton's method on the dual, from the last solution on; the
  /// cost is cells x features squared + moments cubed for each of some 20 steps, at most 60.
  [[nodiscard]] std::vector<double> solve();

 private:
  using Vector = std::vector<double>;
  /// Dual value, and the weights of the cells, at the multipliers.
  double weigh(const Vector& theta, Vector& weights) const;
  /// Newton's direction at theta_; what it promises to gain.
  double direction(const Vector& weights, Vector& direction) const;
  /// Moves theta_ along the direction; false when that gains next to nothing.
  bool advance(const Vector& direction, double gain, Vector& weights);

  std::vector<Moment> moments_;
  std::vector<double> prior_;
  std::vector<std::vector<TiltFeature>> features_;
  Vector theta_;  // a multiplier for each moment
  double dual_ = 0;
};

}  // namespace schedmate::synth
