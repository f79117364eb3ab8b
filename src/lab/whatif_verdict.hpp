// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What an answer of whatif means, in words: for the text, whatif.json and the page alike.
/// Pure functions of the answer.

#include <string>
#include <string_view>
#include <vector>

#include "lab/whatif.hpp"

namespace schedmate::lab {

/// Fidelity, gains, who loses, failures, confidence, advice. Names in it are as given: not yet safe
/// for a terminal or a page.
[[nodiscard]] WhatifVerdict make_verdict(const WhatifAnswer& answer);

/// One word or a few for a row of a table: "gains", "too small to tell", ...
[[nodiscard]] std::string_view word_for(const WhatifPolicy& policy, const whatif::Change& change);
/// Whether the row may be believed: gains or loses for certain, by a policy that can be had.
[[nodiscard]] bool is_certain(const WhatifPolicy& policy, const whatif::Change& change);
/// Whether the policy has figures of its own to show; what equals its host has none.
[[nodiscard]] bool is_shown(const WhatifPolicy& policy);

/// Those with a row: who helps for certain, the most helpful first; where nothing is certain; who
/// harms; what nobody can have or whose figures describe no real jobs.
[[nodiscard]] std::vector<const WhatifPolicy*> ranked_policies(const WhatifAnswer& answer);

/// "37 s", "12.5 min"; "never" for what is infinite.
[[nodiscard]] std::string time_in_words(double seconds);
/// "GPU" or "CPU", whatever jobs compete for.
[[nodiscard]] std::string_view unit_name(const WhatifAnswer& answer);

}  // namespace schedmate::lab
