// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Documents without digits that nobody knows.

#include "base/document.hpp"

namespace schedmate {

/// Numbers with a fraction keep six digits, or as many as stand before the point. For what was
/// measured and computed, not for settings of a program, which are exact.
void shorten_numbers(Document& document);

}  // namespace schedmate
