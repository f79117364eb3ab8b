// SPDX-License-Identifier: Apache-2.0
#include "synth/tilt.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::synth {

using testing::near;

TEST_CASE("a die whose mean is 4.5 has the weights of Jaynes' example") {
  // Jaynes 1957: p_i ~ x^i with sum i p_i = 4.5 gives x = 1.44925.
  Tilt tilt;
  const auto mean = tilt.moment({4.5, 1e-6});
  for (int i = 1; i <= 6; ++i) tilt.cell(1.0 / 6, {{mean, static_cast<double>(i)}});
  const auto weights = tilt.solve();
  for (std::size_t i = 1; i < 6; ++i) CHECK(near(weights[i] / weights[i - 1], 1.44925, 1e-4, 0));
}

TEST_CASE("without targets the prior stays; with shares of a margin the rest is scaled") {
  Tilt none;
  none.cell(0.2, {});
  none.cell(0.8, {});
  CHECK(near(none.solve()[1], 0.8, 1e-12, 0));

  // Two rows by two columns, independent prior; the first row is to have 0.6 instead of 0.5.
  Tilt tilt;
  const auto row = tilt.moment({0.6, 1e-6});
  tilt.cell(0.5 * 0.3, {{row, 1}});
  tilt.cell(0.5 * 0.7, {{row, 1}});
  tilt.cell(0.5 * 0.3, {});
  tilt.cell(0.5 * 0.7, {});
  const auto weights = tilt.solve();
  CHECK(near(weights[0], 0.18, 0, 1e-6));
  CHECK(near(weights[3], 0.28, 0, 1e-6));
}

TEST_CASE("targets that contradict each other are missed by their tolerances squared") {
  // The same share is asked to be 0.4 and 0.6; errors of 0.01 and 0.02: weights 4 to 1.
  Tilt tilt;
  const auto low = tilt.moment({0.4, 0.01});
  const auto high = tilt.moment({0.6, 0.02});
  tilt.cell(0.5, {{low, 1}, {high, 1}});
  tilt.cell(0.5, {});
  CHECK(near(tilt.solve()[0], 0.44, 0.002, 0));
}

TEST_CASE("a cell of weight 0 stays at 0") {
  Tilt tilt;
  const auto mean = tilt.moment({2, 1e-4});
  tilt.cell(0.5, {{mean, 1}});
  tilt.cell(0.0, {{mean, 2}});
  tilt.cell(0.5, {{mean, 3}});
  const auto weights = tilt.solve();
  CHECK(weights[1] == 0);
  CHECK(near(weights[0], 0.5, 1e-12, 0));
}

}  // namespace schedmate::synth
