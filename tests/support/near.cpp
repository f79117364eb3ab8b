// SPDX-License-Identifier: Apache-2.0
#include "tests/support/near.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace schedmate::testing {
namespace {

bool halves = false;

}  // namespace

bool Nearness::is_loose() const { return want_ != 0 && !(allowed_ < std::abs(want_) / 3); }

Nearness::operator bool() const {
  if (!value_) return false;
  if (std::isinf(want_)) return *value_ == want_;
  return std::abs(*value_ - want_) <= allowed_ && !is_loose();
}

std::ostream& operator<<(std::ostream& out, const Nearness& nearness) {
  out << (nearness.value_ ? fmt::format("{}", *nearness.value_) : std::string("nothing"))
      << fmt::format(", wanted {}, at most {} off", nearness.want_, nearness.allowed_);
  if (nearness.is_loose()) out << " (too much: half of the value would be near too)";
  return out;
}

Nearness near(std::optional<double> value, double want, double relative, double absolute) {
  if (halves && value) value = want == 0 ? *value + 1 : *value / 2;
  return {value, want, std::max(relative * std::abs(want), absolute)};
}

void halve_what_is_near() { halves = true; }

}  // namespace schedmate::testing
