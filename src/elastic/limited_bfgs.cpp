// SPDX-License-Identifier: Apache-2.0
#include "elastic/limited_bfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "elastic/line_search.hpp"

namespace schedmate::elastic {
namespace {

constexpr double bfgs_rounding = std::numeric_limits<double>::epsilon();

double bfgs_product(const SearchPoint& a, const SearchPoint& b) {
  double sum = 0;
  for (std::size_t i = 0; i < most_variables; ++i) sum += a[i] * b[i];
  return sum;
}

SearchPoint bfgs_product(const SearchMatrix& matrix, const SearchPoint& vector) {
  SearchPoint result{};
  for (std::size_t i = 0; i < most_variables; ++i) result[i] = bfgs_product(matrix[i], vector);
  return result;
}

SearchPoint difference(const SearchPoint& to, const SearchPoint& from) {
  SearchPoint result{};
  for (std::size_t i = 0; i < most_variables; ++i) result[i] = to[i] - from[i];
  return result;
}

SearchPoint point_within(const BoundedFunction& function, SearchPoint point) {
  for (std::size_t i = 0; i < most_variables; ++i) {
    point[i] = std::clamp(point[i], function.lower[i], function.upper[i]);
  }
  return point;
}

/// The curvature that the last steps show (BFGS), always positive definite.
class LearnedCurvature {
 public:
  LearnedCurvature() { forget(); }

  [[nodiscard]] const SearchMatrix& matrix() const { return matrix_; }
  [[nodiscard]] bool nothing_learned() const { return count_ == 0; }

  void forget() {
    count_ = 0;
    begin_with(1);
  }

  /// `product` of the two, above 0.
  void learn(const SearchPoint& step, const SearchPoint& change_of_slope, double product) {
    if (count_ == pairs_.size()) {
      std::ranges::rotate(pairs_, pairs_.begin() + 1);
      --count_;
    }
    pairs_[count_++] = {step, change_of_slope, product};
    begin_with(bfgs_product(change_of_slope, change_of_slope) / product);
    for (std::size_t i = 0; i < count_; ++i) apply(pairs_[i]);
  }

 private:
  struct Pair {
    SearchPoint step{}, change{};
    double product = 0;
  };

  void begin_with(double diagonal) {
    matrix_ = {};
    for (std::size_t i = 0; i < most_variables; ++i) matrix_[i][i] = diagonal;
  }

  void apply(const Pair& pair) {
    const SearchPoint expected = bfgs_product(matrix_, pair.step);
    const double bend = bfgs_product(pair.step, expected);
    for (std::size_t i = 0; i < most_variables; ++i) {
      for (std::size_t j = 0; j < most_variables; ++j) {
        matrix_[i][j] +=
            pair.change[i] * pair.change[j] / pair.product - expected[i] * expected[j] / bend;
      }
    }
  }

  std::array<Pair, 10> pairs_;  ///< oldest first
  std::size_t count_ = 0;
  SearchMatrix matrix_{};
};

/// A point and which of its variables are not held by a bound.
struct CauchyPoint {
  SearchPoint at{};
  std::array<bool, most_variables> free{};
};

/// Down the gradient, each variable until its bound.
class GradientPath {
 public:
  GradientPath(const BoundedFunction& function, const SearchPoint& from,
               const SearchPoint& gradient)
      : function_(&function), from_(from), point_{.at = from} {
    for (std::size_t i = 0; i < most_variables; ++i) {
      const double lower = function.lower[i];
      const double upper = function.upper[i];
      const bool at_lower = from[i] <= lower && gradient[i] >= 0;
      const bool at_upper = from[i] >= upper && gradient[i] <= 0;
      point_.free[i] = lower != upper && !at_lower && !at_upper;
      if (!point_.free[i] || gradient[i] == 0) continue;
      way_[i] = -gradient[i];
      end_[i] = ((gradient[i] > 0 ? lower : upper) - from[i]) / way_[i];
    }
  }

  /// The first low point of the model that has this curvature. Slope and bend are carried from
  /// bound to bound as in the published code: where hardly anything is left of them, how they are
  /// rounded decides where it is.
  CauchyPoint first_low_point(const SearchMatrix& curvature) {
    double slope = -bfgs_product(way_, way_);
    double bend = bfgs_product(way_, bfgs_product(curvature, way_));
    const double least_bend = bfgs_rounding * bend;
    double gone = 0;
    for (auto next = next_to_stop(); next != most_variables; next = next_to_stop()) {
      const double rest = end_[next] - gone;
      if (-slope / bend < rest) {
        move(gone + std::max(-slope / bend, 0.0));
        break;
      }
      gone = end_[next];
      move(gone);
      const double way = way_[next];
      const double bend_with_others = bfgs_product(curvature[next], way_);
      stop(next);
      slope = slope + rest * bend + way * way - way * bfgs_product(curvature[next], moved_);
      bend =
          std::max(bend - way * (2 * bend_with_others - way * curvature[next][next]), least_bend);
    }
    return point_;
  }

 private:
  /// Of those that move, the one that gets to its bound first; most_variables if none moves.
  [[nodiscard]] std::size_t next_to_stop() const {
    std::size_t first = most_variables;
    for (std::size_t i = 0; i < most_variables; ++i) {
      if (way_[i] != 0 && (first == most_variables || end_[i] < end_[first])) first = i;
    }
    return first;
  }

  void move(double gone) {
    for (std::size_t i = 0; i < most_variables; ++i) {
      if (way_[i] == 0) continue;
      moved_[i] = gone * way_[i];
      point_.at[i] = from_[i] + moved_[i];
    }
  }

  void stop(std::size_t i) {
    point_.at[i] = way_[i] < 0 ? function_->lower[i] : function_->upper[i];
    point_.free[i] = false;
    moved_[i] = point_.at[i] - from_[i];
    way_[i] = 0;
  }

  const BoundedFunction* function_;
  SearchPoint from_;
  SearchPoint way_{};    ///< 0 for those that do not move
  SearchPoint end_{};    ///< how long the way is that each can go
  SearchPoint moved_{};  ///< from where it began
  CauchyPoint point_;
};

/// The change of the free variables with which `curvature` x change = `target`; false if the matrix
/// is, by rounding, not positive definite (Cholesky).
bool solve_free(const SearchMatrix& curvature, const std::array<bool, most_variables>& free,
                SearchPoint& target) {
  SearchMatrix factor{};
  for (std::size_t i = 0; i < most_variables; ++i) {
    if (!free[i]) target[i] = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      double entry = free[i] && free[j] ? curvature[i][j] : (i == j ? 1.0 : 0.0);
      for (std::size_t k = 0; k < j; ++k) entry -= factor[i][k] * factor[j][k];
      if (i == j && !(entry > 0)) return false;
      factor[i][j] = i == j ? std::sqrt(entry) : entry / factor[j][j];
    }
  }
  for (std::size_t i = 0; i < most_variables; ++i) {
    for (std::size_t k = 0; k < i; ++k) target[i] -= factor[i][k] * target[k];
    target[i] /= factor[i][i];
  }
  for (std::size_t i = most_variables; i-- > 0;) {
    for (std::size_t k = i + 1; k < most_variables; ++k) target[i] -= factor[k][i] * target[k];
    target[i] /= factor[i][i];
  }
  return true;
}

/// From `from` as far towards `from` + `change` as all stay within the bounds.
SearchPoint shortened(const BoundedFunction& function, const SearchPoint& from,
                      const SearchPoint& change) {
  double share = 1;
  std::size_t first = most_variables;
  for (std::size_t i = 0; i < most_variables; ++i) {
    const double room = (change[i] < 0 ? function.lower[i] : function.upper[i]) - from[i];
    if (std::abs(change[i]) * share <= std::abs(room)) continue;
    share = room / change[i];
    first = i;
  }
  SearchPoint at = from;
  for (std::size_t i = 0; i < most_variables; ++i) at[i] += share * change[i];
  if (first < most_variables) {
    at[first] = change[first] < 0 ? function.lower[first] : function.upper[first];
  }
  return at;
}

/// A point with its value and gradient.
struct SearchPlace {
  SearchPoint at{};
  double value = 0;
  SearchPoint gradient{};
};

/// Where the model of the function is lowest when only the free variables go on from `cauchy`, but
/// within the bounds; false if it is not known.
bool go_on_with_free(const BoundedFunction& function, const SearchPlace& from,
                     const SearchMatrix& curvature, CauchyPoint& cauchy) {
  SearchPoint change = bfgs_product(curvature, difference(cauchy.at, from.at));
  for (std::size_t i = 0; i < most_variables; ++i) change[i] = -change[i] - from.gradient[i];
  if (!solve_free(curvature, cauchy.free, change)) return false;
  SearchPoint target = cauchy.at;
  for (std::size_t i = 0; i < most_variables; ++i) target[i] += change[i];
  const SearchPoint within = point_within(function, target);
  const bool downhill = bfgs_product(difference(within, from.at), from.gradient) <= 0;
  cauchy.at = within == target || downhill ? within : shortened(function, cauchy.at, change);
  return true;
}

/// No variable may still go down along more than this.
double steepest(const BoundedFunction& function, const SearchPlace& place) {
  double most = 0;
  for (std::size_t i = 0; i < most_variables; ++i) {
    const double down = function.lower[i] - place.at[i];
    const double up = function.upper[i] - place.at[i];
    most = std::max(most, std::abs(std::clamp(-place.gradient[i], down, up)));
  }
  return most;
}

/// How far along `way` all stay within the bounds, at least to its end.
double most_length(const BoundedFunction& function, const SearchPoint& from,
                   const SearchPoint& way) {
  double most = 1e10;
  for (std::size_t i = 0; i < most_variables; ++i) {
    if (way[i] == 0) continue;
    const double room = (way[i] < 0 ? function.lower[i] : function.upper[i]) - from[i];
    most = std::min(most, room / way[i]);
  }
  return std::max(most, 1.0);
}

class LimitedBfgs {
 public:
  LimitedBfgs(const BoundedFunction& function, const LimitedBfgsLimits& limits)
      : function_(&function), limits_(limits) {}

  Minimum minimum(const SearchPoint& start) {
    SearchPlace place = evaluate(point_within(*function_, start));
    bool found = steepest(*function_, place) <= limits_.slope;
    while (!found && evaluations_ < limits_.evaluations) {
      const auto next = place_after(place);
      if (!next && curvature_.nothing_learned()) break;
      if (!next) {  // what was learned misleads
        curvature_.forget();
        continue;
      }
      found = ends(place, *next);
      place = *next;
    }
    return {place.at, place.value, evaluations_, found};
  }

 private:
  SearchPlace evaluate(const SearchPoint& at) {
    const QuadraticModel model = function_->model_at(at);
    ++evaluations_;
    return {at, model.value, model.gradient};
  }

  [[nodiscard]] bool ends(const SearchPlace& before, const SearchPlace& now) const {
    const double size = std::max({std::abs(before.value), std::abs(now.value), 1.0});
    return steepest(*function_, now) <= limits_.slope ||
           before.value - now.value <= limits_.decrease * size;
  }

  /// One step of the search; none if there is no way down or the line search failed.
  std::optional<SearchPlace> place_after(const SearchPlace& from) {
    GradientPath path(*function_, from.at, from.gradient);
    CauchyPoint target = path.first_low_point(curvature_.matrix());
    const bool known = curvature_.nothing_learned() ||
                       go_on_with_free(*function_, from, curvature_.matrix(), target);
    if (!known) return std::nullopt;
    const SearchPoint way = difference(target.at, from.at);
    if (!(bfgs_product(way, from.gradient) < 0)) return std::nullopt;
    return along(from, target.at, way);
  }

  std::optional<SearchPlace> along(const SearchPlace& from, const SearchPoint& target,
                                   const SearchPoint& way) {
    constexpr int most_tries = 20;
    const LinePoint start{0, from.value, bfgs_product(way, from.gradient)};
    const LineLengths lengths = lengths_along(from.at, way);
    LineSearch line(start, lengths);
    double length = lengths.first;
    for (int tries = 0; tries < most_tries; ++tries) {
      const SearchPlace place = evaluate(length == 1 ? target : point_on(from.at, way, length));
      const LinePoint tried{length, place.value, bfgs_product(way, place.gradient)};
      if (line.ends_at(tried)) {
        learn(start, tried, way, difference(place.gradient, from.gradient));
        first_step_ = false;
        return place;
      }
      length = line.after(tried);
    }
    return std::nullopt;
  }

  /// Before the first step nothing is known of lengths.
  [[nodiscard]] LineLengths lengths_along(const SearchPoint& from, const SearchPoint& way) const {
    if (!first_step_) return {1, most_length(*function_, from, way)};
    return {std::min(1 / std::sqrt(bfgs_product(way, way)), 1.0), 1};
  }

  [[nodiscard]] SearchPoint point_on(const SearchPoint& from, const SearchPoint& way,
                                     double length) const {
    SearchPoint at{};
    for (std::size_t i = 0; i < most_variables; ++i) at[i] = from[i] + length * way[i];
    return point_within(*function_, at);
  }

  /// A step along which the slope did not rise says nothing of the curvature.
  void learn(const LinePoint& start, const LinePoint& end, const SearchPoint& way,
             const SearchPoint& change) {
    const double product = (end.slope - start.slope) * end.length;
    if (product <= bfgs_rounding * -start.slope * end.length) return;
    SearchPoint step = way;
    for (double& each : step) each *= end.length;
    curvature_.learn(step, change, product);
  }

  const BoundedFunction* function_;
  LimitedBfgsLimits limits_;
  LearnedCurvature curvature_;
  int evaluations_ = 0;
  bool first_step_ = true;
};

}  // namespace

Minimum limited_bfgs_minimum(const BoundedFunction& function, const SearchPoint& start,
                             const LimitedBfgsLimits& limits) {
  return LimitedBfgs(function, limits).minimum(start);
}

}  // namespace schedmate::elastic
