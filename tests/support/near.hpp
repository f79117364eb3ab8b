// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A number beside what it should be: CHECK(near(jct_h, 3.18, 0.05, 0)). Both tolerances are
/// written down where the check stands, since one that is tacit lets small values pass unchecked.

#include <iosfwd>
#include <optional>

namespace schedmate::testing {

/// True where they are near; printed as the value, what was wanted, and how far off it may be.
class Nearness {
 public:
  Nearness(std::optional<double> value, double want, double allowed)
      : value_(value), want_(want), allowed_(allowed) {}
  [[nodiscard]] explicit operator bool() const;
  friend std::ostream& operator<<(std::ostream& out, const Nearness& nearness);

 private:
  /// A difference that half of the value, or twice it, would have too.
  [[nodiscard]] bool is_loose() const;
  std::optional<double> value_;
  double want_, allowed_;
};

/// `value` may be off by `relative` of `want`, or by `absolute` if that is more. Never near are a
/// value that is not there, no number, and any at all where a third of `want` or more is allowed:
/// such a check would hold of half the value. Beside a `want` of 0, only `absolute` counts.
[[nodiscard]] Nearness near(std::optional<double> value, double want, double relative,
                            double absolute);

/// From now on near() is given half of each value (1 more beside a `want` of 0), so that each check
/// must fail: `X_test --halve`, scripts/halved.sh.
void halve_what_is_near();

}  // namespace schedmate::testing
