// SPDX-License-Identifier: Apache-2.0
#include "base/known_digits.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace schedmate {

void shorten_numbers(Document& document) {
  if (document.is_structured()) {
    for (Document& each : document) shorten_numbers(each);
  } else if (document.is_number_float()) {
    const double value = document.get<double>();
    document = std::abs(value) < 1e6 ? as_known(value) : std::round(value);
  }
}

}  // namespace schedmate
