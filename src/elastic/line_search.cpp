// SPDX-License-Identifier: Apache-2.0
#include "elastic/line_search.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::elastic {
namespace {

constexpr double wanted_share = 1e-3;   // of the decrease that the first slope promises
constexpr double flat_share = 0.9;      // of the first slope that may be left
constexpr double narrow_share = 0.1;    // of the length; a narrower bracket is not divided further
constexpr double bracket_share = 0.66;  // of the bracket: as far as a guess may go on in it

/// Where the cubic through two points is lowest, seen from `to`, as a share of the way to `from`;
/// its root is 0 where it falls without end.
struct CubicGuess {
  double share = 0;
  double root = 0;
};

CubicGuess cubic_guess(const LinePoint& from, const LinePoint& to) {
  const double middle =
      3 * (from.value - to.value) / (to.length - from.length) + from.slope + to.slope;
  const double scale = std::max({std::abs(middle), std::abs(from.slope), std::abs(to.slope)});
  const double square =
      (middle / scale) * (middle / scale) - (from.slope / scale) * (to.slope / scale);
  const double size = scale * std::sqrt(std::max(square, 0.0));
  const double root = to.length > from.length ? -size : size;
  return {((root - to.slope) + middle) / (((root - to.slope) + root) + from.slope), root};
}

double cubic_length(const LinePoint& from, const LinePoint& to) {
  return to.length + cubic_guess(from, to).share * (from.length - to.length);
}

/// Where the slope is 0, by the straight line through both slopes.
double secant_length(const LinePoint& from, const LinePoint& to) {
  return to.length + to.slope / (to.slope - from.slope) * (from.length - to.length);
}

/// Where the parabola through both values and the slope of `best` is lowest.
double parabola_length(const LinePoint& best, const LinePoint& tried) {
  const double rise = (best.value - tried.value) / (tried.length - best.length) + best.slope;
  return best.length + best.slope / rise / 2 * (tried.length - best.length);
}

bool slopes_differ(const LinePoint& a, const LinePoint& b) {
  return a.slope * (b.slope / std::abs(b.slope)) < 0;
}

/// The same point where everything falls by `slope` less for each unit of length.
LinePoint tilted(LinePoint point, double slope) {
  point.value -= point.length * slope;
  point.slope -= slope;
  return point;
}

}  // namespace

LineSearch::LineSearch(const LinePoint& start, const LineLengths& lengths)
    : start_(start),
      best_(start),
      other_(start),
      wanted_slope_(wanted_share * start.slope),
      most_(lengths.most),
      high_(5 * lengths.first),
      width_(lengths.most),
      width_before_(2 * lengths.most) {}

double LineSearch::wanted_at(double length) const { return start_.value + length * wanted_slope_; }

bool LineSearch::too_narrow() const { return closed_ && high_ - low_ <= narrow_share * high_; }

bool LineSearch::ends_at(const LinePoint& tried) const {
  const bool low = tried.value <= wanted_at(tried.length);
  const bool at_end = tried.length == most_ && low && tried.slope <= wanted_slope_;
  const bool outside = closed_ && (tried.length <= low_ || tried.length >= high_);
  const bool flat = std::abs(tried.slope) <= flat_share * -start_.slope;
  return (low && flat) || at_end || outside || too_narrow();
}

/// Until the wanted value is reached, the search is for it rather than for the lowest one.
double LineSearch::after(const LinePoint& tried) {
  const double wanted = wanted_at(tried.length);
  if (tried.value <= wanted && tried.slope >= wanted_slope_) once_low_ = true;
  const bool for_wanted = !once_low_ && tried.value <= best_.value && tried.value > wanted;
  const double tilt = for_wanted ? wanted_slope_ : 0;
  best_ = tilted(best_, tilt);
  other_ = tilted(other_, tilt);
  const LinePoint seen = tilted(tried, tilt);
  double length = guess(seen);
  narrow(seen);
  best_ = tilted(best_, -tilt);
  other_ = tilted(other_, -tilt);
  length = halved_if_slow(length);
  set_ends(length);
  length = std::clamp(length, 0.0, most_);
  const bool outside = closed_ && (length <= low_ || length >= high_);
  return outside || too_narrow() ? best_.length : length;
}

/// The four cases of the paper's section 4.
double LineSearch::guess(const LinePoint& tried) const {
  if (tried.value > best_.value) {
    const double cubic = cubic_length(tried, best_);
    const double parabola = parabola_length(best_, tried);
    const bool cubic_nearer = std::abs(cubic - best_.length) < std::abs(parabola - best_.length);
    return cubic_nearer ? cubic : cubic + (parabola - cubic) / 2;
  }
  if (slopes_differ(tried, best_)) {
    const double cubic = cubic_length(best_, tried);
    const double secant = secant_length(best_, tried);
    const bool cubic_farther = std::abs(cubic - tried.length) > std::abs(secant - tried.length);
    return cubic_farther ? cubic : secant;
  }
  if (std::abs(tried.slope) < std::abs(best_.slope)) return guess_beyond(tried);
  if (closed_) return cubic_length(other_, tried);
  return tried.length > best_.length ? high_ : low_;
}

/// The value falls on, but ever less.
double LineSearch::guess_beyond(const LinePoint& tried) const {
  const bool up = tried.length > best_.length;
  const CubicGuess guess = cubic_guess(best_, tried);
  const bool ahead = guess.share < 0 && guess.root != 0;
  const double end = up ? high_ : low_;
  const double cubic = ahead ? tried.length + guess.share * (best_.length - tried.length) : end;
  const double secant = secant_length(best_, tried);
  const bool cubic_nearer = std::abs(cubic - tried.length) < std::abs(secant - tried.length);
  const bool cubic_farther = std::abs(cubic - tried.length) > std::abs(secant - tried.length);
  if (!closed_) return std::clamp(cubic_farther ? cubic : secant, low_, high_);
  const double nearer = cubic_nearer ? cubic : secant;
  const double limit = tried.length + bracket_share * (other_.length - tried.length);
  return up ? std::min(limit, nearer) : std::max(limit, nearer);
}

void LineSearch::narrow(const LinePoint& tried) {
  if (tried.value > best_.value) {
    other_ = tried;
    closed_ = true;
    return;
  }
  if (slopes_differ(tried, best_)) {
    other_ = best_;
    closed_ = true;
  }
  best_ = tried;
}

double LineSearch::halved_if_slow(double length) {
  if (!closed_) return length;
  const double width = std::abs(other_.length - best_.length);
  const bool slow = width >= bracket_share * width_before_;
  width_before_ = width_;
  width_ = width;
  return slow ? best_.length + (other_.length - best_.length) / 2 : length;
}

void LineSearch::set_ends(double length) {
  constexpr double least_growth = 1.1;
  constexpr double most_growth = 4;
  if (closed_) {
    low_ = std::min(best_.length, other_.length);
    high_ = std::max(best_.length, other_.length);
  } else {
    low_ = length + least_growth * (length - best_.length);
    high_ = length + most_growth * (length - best_.length);
  }
}

}  // namespace schedmate::elastic
