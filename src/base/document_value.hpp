// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a part of a document says, whatever it is (beside part() of document.hpp): "" or nothing
/// where it is of another kind, or has no room there.

#include <cstdint>
#include <optional>
#include <schedmate/time.hpp>
#include <string>

#include "base/document.hpp"

namespace schedmate {

[[nodiscard]] std::string text_in(const Document& value);
[[nodiscard]] std::optional<std::int64_t> whole_in(const Document& value);
[[nodiscard]] std::optional<double> figure_in(const Document& value);  ///< finite
/// Seconds since 1970, within 35,000 years of it, so that times can be counted with it.
[[nodiscard]] std::optional<SimTime> instant_in(const Document& value);

}  // namespace schedmate
