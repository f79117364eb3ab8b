// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From what the rules found to one answer for each field.

#include "facts/finding.hpp"

namespace schedmate::facts {

/// Takes for each field the value with the highest joint confidence: that of its best finding,
/// raised a little by other rules that found the same. Below `confidence::weak` - 0.05 the field
/// stays unknown. A finding without a value ("batches by tokens") can win: the answer is null.
/// Losers go to `facts.rejected`.
void choose(Findings findings, Facts& facts);

}  // namespace schedmate::facts
