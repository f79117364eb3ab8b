// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What can happen to a file on its way: cut off, flipped bits, lost, doubled or foreign pieces,
/// absurd numbers, another encoding.

#include <string>

#include "base/random.hpp"

namespace schedmate::fuzz {

/// One to four damages, drawn from the random numbers.
[[nodiscard]] std::string corrupt(std::string text, Random& random);

}  // namespace schedmate::fuzz
