// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a part of a document says, whatever it is (beside part() of document.hpp): "" or nothing
/// where it is of another kind, or has no room there.

#include <cstdint>
#include <optional>
#include <string>

#include "base/document.hpp"

namespace schedmate {

[[nodiscard]] std::string text_in(const Document& value);
[[nodiscard]] std::optional<std::int64_t> whole_in(const Document& value);
[[nodiscard]] std::optional<double> figure_in(const Document& value);  ///< finite

}  // namespace schedmate
