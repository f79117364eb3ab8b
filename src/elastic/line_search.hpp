// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How far to go along a line that leads down: More, Thuente, "Line search algorithms with
/// guaranteed sufficient decrease" (1994), as L-BFGS-B uses it.

namespace schedmate::elastic {

/// A length along the line, the value there and its slope along the line.
struct LinePoint {
  double length = 0, value = 0, slope = 0;
};

/// The lengths that are tried.
struct LineLengths {
  double first = 0;  ///< above 0
  double most = 0;
};

/// Starts where the slope is below 0. Whoever searches tries the first length and goes on with
/// after() until ends_at().
class LineSearch {
 public:
  LineSearch(const LinePoint& start, const LineLengths& lengths);

  /// Value and slope have become much less, or nothing more is to be gained.
  [[nodiscard]] bool ends_at(const LinePoint& tried) const;

  /// The next length to try.
  [[nodiscard]] double after(const LinePoint& tried);

 private:
  [[nodiscard]] double wanted_at(double length) const;
  [[nodiscard]] bool too_narrow() const;
  [[nodiscard]] double guess(const LinePoint& tried) const;
  [[nodiscard]] double guess_beyond(const LinePoint& tried) const;
  void narrow(const LinePoint& tried);
  [[nodiscard]] double halved_if_slow(double length);
  void set_ends(double length);

  LinePoint start_;
  LinePoint best_, other_;  ///< once closed, a low point lies between the two
  double wanted_slope_;     ///< the value is to fall by this for each unit of length
  double most_;
  double low_ = 0, high_;  ///< where the next guess may lie
  double width_, width_before_;
  bool closed_ = false;
  bool once_low_ = false;  ///< the wanted value was reached
};

}  // namespace schedmate::elastic
