// SPDX-License-Identifier: Apache-2.0
#include "synth/tilt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedmate::synth {
namespace {

using Vector = std::vector<double>;

/// Solves A x = b in place for a positive definite A (lower triangle, row by row); b becomes x.
void solve_cholesky(Vector& a, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &a[i * n];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* const other = &a[j * n];
      double sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      row[j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / other[j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

/// The same after scaling A to a unit diagonal: moments of shares and of GPU time differ by orders
/// of magnitude.
void solve_scaled(Vector& a, Vector& b) {
  const std::size_t n = b.size();
  Vector scale(n);
  for (std::size_t i = 0; i < n; ++i) scale[i] = 1 / std::sqrt(std::max(a[i * n + i], 1e-300));
  for (std::size_t i = 0; i < n; ++i) {
    b[i] *= scale[i];
    for (std::size_t j = 0; j <= i; ++j) a[i * n + j] *= scale[i] * scale[j];
    a[i * n + i] += 1e-12;
  }
  solve_cholesky(a, b);
  for (std::size_t i = 0; i < n; ++i) b[i] *= scale[i];
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::uint32_t Tilt::moment(Moment moment) {
  moments_.push_back(moment);
  return static_cast<std::uint32_t>(moments_.size() - 1);
}

void Tilt::cell(double prior, const std::vector<TiltFeature>& features) {
  prior_.push_back(prior);
  features_.push_back(features);
}

double Tilt::weigh(const Vector& theta, Vector& weights) const {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < prior_.size(); ++c) {
    double exponent = prior_[c] > 0 ? std::log(prior_[c]) : -1e300;
    for (const TiltFeature& each : features_[c]) exponent += theta[each.moment] * each.value;
    weights[c] = exponent;
    highest = std::max(highest, exponent);
  }
  constexpr double nothing = -700;  // exp() below it is 0 or slow
  double sum = 0;
  for (double& weight : weights) {
    weight = weight - highest > nothing ? std::exp(weight - highest) : 0;
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  double dual = -highest - std::log(sum);
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const double error = moments_[i].tolerance * theta[i];
    dual += theta[i] * moments_[i].target - 0.5 * error * error;
  }
  return dual;
}

double Tilt::direction(const Vector& weights, Vector& direction) const {
  const std::size_t n = moments_.size();
  Vector mean(n, 0.0);
  Vector hessian(n * n, 0.0);
  for (std::size_t c = 0; c < prior_.size(); ++c) {
    if (weights[c] == 0) continue;
    for (const TiltFeature& a : features_[c]) {
      const double part = weights[c] * a.value;
      mean[a.moment] += part;
      for (const TiltFeature& b : features_[c]) {
        if (b.moment <= a.moment) hessian[a.moment * n + b.moment] += part * b.value;
      }
    }
  }
  Vector gradient(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double variance = moments_[i].tolerance * moments_[i].tolerance;
    gradient[i] = moments_[i].target - mean[i] - variance * theta_[i];
    for (std::size_t j = 0; j <= i; ++j) hessian[i * n + j] -= mean[i] * mean[j];
    hessian[i * n + i] += variance;
  }
  direction = gradient;
  solve_scaled(hessian, direction);
  return dot(gradient, direction);
}

bool Tilt::advance(const Vector& direction, double gain, Vector& weights) {
  constexpr int most_halvings = 30;
  Vector next(theta_.size());
  double length = 1;
  double reached = dual_;
  for (int halving = 0; halving < most_halvings; ++halving, length /= 2) {
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = theta_[i] + length * direction[i];
    reached = weigh(next, weights);
    if (reached >= dual_ + 0.1 * length * gain) break;
  }
  if (!(reached > dual_)) {
    weigh(theta_, weights);
    return false;
  }
  theta_ = next;
  dual_ = reached;
  return true;
}

std::vector<double> Tilt::solve() {
  theta_.resize(moments_.size(), 0.0);
  Vector weights(prior_.size());
  dual_ = weigh(theta_, weights);
  Vector way;
  constexpr int most_steps = 60;
  constexpr double least_gain = 1e-9;
  for (int step = 0; step < most_steps; ++step) {
    const double gain = direction(weights, way);
    if (!(gain > least_gain) || !advance(way, gain, weights)) break;
  }
  return weights;
}

}  // namespace schedmate::synth
