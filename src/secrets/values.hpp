// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Values that are known to be secret, wherever they stand.

#include <span>
#include <string>
#include <string_view>

#include "secrets/spans.hpp"

namespace schedmate::secrets {

/// Whether a value may be looked for in the rest of a text: "1234" and "none" would black it out.
[[nodiscard]] bool is_telling(std::string_view value);

/// Where the values stand; they are sorted. Looks at no more than 64 letters of each at a place, so
/// it is linear in the text.
void find_values(std::string_view text, std::span<const std::string_view> values, Spans& found);

}  // namespace schedmate::secrets
