// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From what the rules found to one answer for each field.

#include <map>

#include "facts/finding.hpp"

namespace schedmate::facts {

/// What the answer of one field rests on. Ranks are the rules' own scale (finding.hpp).
struct Grounds {
  double rank = 0;    ///< of the answer
  double rival = 0;   ///< of the best other value
  int rules = 0;      ///< that found the answer, each by another name
  int rivals = 0;     ///< other values that would have been taken
  std::string why{};  ///< name of the rule that is most sure
};
/// By field, of those that got an answer.
using GroundsByField = std::map<std::string, Grounds, std::less<>>;

/// Takes for each field the value with the highest joint confidence: that of its best finding,
/// raised a little by other rules that found the same. Below `confidence::weak` - 0.05 the field
/// stays unknown. A finding without a value ("batches by tokens") can win: the answer is null.
/// Losers go to `facts.rejected`. The confidence of an answer is its rank until calibrate() makes
/// a probability of it.
GroundsByField choose(Findings findings, Facts& facts);

}  // namespace schedmate::facts
