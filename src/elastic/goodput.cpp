// SPDX-License-Identifier: Apache-2.0
#include "elastic/goodput.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace schedmate::elastic {
namespace {

constexpr double rounding_slack = 1e-8;  // a size this little above a whole one counts as that
constexpr std::int32_t batch_count = 50;

float power_of_ten(float exponent) { return std::pow(10.0F, exponent); }
double power_of_ten(double exponent) { return std::exp(exponent * std::numbers::ln10); }

/// Total batches from the first to the last, both included; downwards if the last is smaller.
template <class Real>
class BatchProgression {
 public:
  BatchProgression(double first, double last)
      : first_(static_cast<Real>(first)),
        last_(static_cast<Real>(last)),
        log_first_(std::log10(first_)),
        log_step_((std::log10(last_) - log_first_) / static_cast<Real>(batch_count - 1)) {}

  [[nodiscard]] Real at(std::int32_t place) const {
    if (place == 0) return first_;
    if (place == batch_count - 1) return last_;
    return power_of_ten(static_cast<Real>(place) * log_step_ + log_first_);
  }

 private:
  Real first_, last_, log_first_, log_step_;
};

/// A GPU's share of the batch in as few equal parts as fit its memory, rounded up. With a single
/// replica two parts are needed beyond the initial batch: one alone does not show the noise of the
/// gradient.
template <class Real>
BatchChoice in_parts(Real share, const BatchLimits& limits, bool single_replica) {
  const Real beyond =
      std::ceil(share / static_cast<Real>(limits.most) - static_cast<Real>(rounding_slack)) - 1;
  double accumulation = std::max(static_cast<double>(beyond), 0.0);
  if (single_replica && share > static_cast<Real>(limits.initial_batch + rounding_slack)) {
    accumulation = std::max(accumulation, 1.0);
  }
  const double part = static_cast<double>(share) / (accumulation + 1);
  return {static_cast<std::int32_t>(std::ceil(part - rounding_slack)),
          static_cast<std::int32_t>(accumulation)};
}

/// What goodput depends on besides the batch.
struct GoodputCase {
  const ThroughputModel& model;
  const GradientNoise& noise;
  const BatchLimits& limits;
  StepShape spread;
};

bool fits(const BatchChoice& batch, const BatchLimits& limits) {
  return batch.atomic_batch >= limits.least && batch.atomic_batch <= limits.most;
}

/// Of a batch that fits; 0 if it can be seen that it is not above `record`.
double goodput_above(double record, const GoodputCase& at, const BatchChoice& batch) {
  const StepShape shape{at.spread.nodes, at.spread.replicas, batch.atomic_batch};
  const double parts = 1.0 + batch.accumulation;
  const double total = static_cast<double>(shape.replicas) * batch.atomic_batch * parts;
  const double useful = at.limits.initial_batch * gain(at.noise, total, at.limits.initial_batch);
  const double compute_s = at.model.compute_s + at.model.compute_per_sample_s * batch.atomic_batch;
  if (useful <= record * parts * compute_s) return 0;  // even without communication
  return useful / (batch.accumulation * compute_s + step_time(at.model, shape).optimisation_s);
}

template <class Real>
BatchChoice best_between(const GoodputCase& at, double first, double last) {
  const BatchProgression<Real> totals(first, last);
  const std::int32_t replicas = at.spread.replicas;
  BatchChoice best;
  BatchChoice before;
  for (std::int32_t place = 0; place < batch_count; ++place) {
    const Real share = totals.at(place) / static_cast<Real>(replicas);
    BatchChoice batch = in_parts(share, at.limits, replicas == 1);
    if (place == 0) best = batch;
    const bool same =
        batch.atomic_batch == before.atomic_batch && batch.accumulation == before.accumulation;
    before = batch;
    if (same || !fits(batch, at.limits)) continue;
    batch.goodput = goodput_above(best.goodput, at, batch);
    if (batch.goodput > best.goodput) best = batch;
  }
  return best;
}

}  // namespace

double gain(const GradientNoise& noise, double batch, double initial_batch) {
  const double remaining = noise.variance * initial_batch / batch + noise.squared;
  return remaining > 0 ? (noise.variance + noise.squared) / remaining : 1;
}

BatchChoice best_batch(const ThroughputModel& model, const GradientNoise& noise,
                       const BatchLimits& limits, StepShape spread) {
  if (std::min({limits.least, limits.most, limits.initial_batch, limits.most_batch}) < 1) return {};
  const GoodputCase at{model, noise, limits, spread};
  const double last = limits.most_batch;
  if (!limits.tuned) {
    BatchChoice batch = in_parts(last / spread.replicas, limits, spread.replicas == 1);
    if (fits(batch, limits)) batch.goodput = goodput_above(0, at, batch);
    return batch;
  }
  const double first =
      std::max<double>(limits.initial_batch, static_cast<double>(limits.least) * spread.replicas);
  return limits.single_precision ? best_between<float>(at, first, last)
                                 : best_between<double>(at, first, last);
}

BatchChoice fixed_batch(const BatchLimits& limits, double total, std::int32_t replicas) {
  return in_parts(std::ceil(total / replicas - rounding_slack), limits, replicas == 1);
}

}  // namespace schedmate::elastic
