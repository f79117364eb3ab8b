// SPDX-License-Identifier: Apache-2.0
#include "policy/gittins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedmate::policy {
namespace {

constexpr double first_multiple = 1e-4;
constexpr double step = 1.15;
constexpr double tail_share = 1e-7;  // beyond it the table ends

double survival(double multiple, double spread) {
  return 0.5 * std::erfc(std::log(multiple) / (spread * std::sqrt(2.0)));
}

}  // namespace

GittinsTable::GittinsTable(double spread) {
  std::vector<double> shares, areas;  // P(X > t), and its integral up to t
  double area = 0;
  for (double multiple = first_multiple;; multiple *= step) {
    const double share = survival(multiple, spread);
    if (share < tail_share && !multiples_.empty()) break;
    if (!multiples_.empty()) area += (multiple - multiples_.back()) * (share + shares.back()) / 2;
    multiples_.push_back(multiple);
    shares.push_back(share);
    areas.push_back(area);
  }
  for (std::size_t now = 0; now + 1 < multiples_.size(); ++now) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t then = now + 1; then < multiples_.size(); ++then) {
      const double ends = shares[now] - shares[then];
      if (ends > 0) least = std::min(least, (areas[then] - areas[now]) / ends);
    }
    ranks_.push_back(least);
  }
  multiples_.pop_back();
}

double GittinsTable::rank(double estimate_s, double run_s) const {
  const double multiple = run_s / estimate_s;
  if (multiple <= multiples_.front()) return ranks_.front() * estimate_s;
  if (multiple >= multiples_.back())
    return ranks_.back() * multiple / multiples_.back() * estimate_s;
  const auto place = static_cast<std::size_t>(std::log(multiple / first_multiple) / std::log(step));
  const std::size_t low = std::min(place, multiples_.size() - 2);
  const double part = (multiple - multiples_[low]) / (multiples_[low + 1] - multiples_[low]);
  return std::lerp(ranks_[low], ranks_[low + 1], std::clamp(part, 0.0, 1.0)) * estimate_s;
}

}  // namespace schedmate::policy
