// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a document of a daemon says, whatever it says, beside part(): a value that is absent or of
/// another kind than expected is not known. Texts are printable.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document.hpp"

namespace schedmate::screen {

/// A text, or a number as text; "": not known.
[[nodiscard]] std::string word(const Document& document, const char* key);
[[nodiscard]] std::optional<std::int64_t> whole(const Document& document, const char* key);
[[nodiscard]] std::optional<double> amount(const Document& document, const char* key);
/// The texts or numbers of a list.
[[nodiscard]] std::vector<std::string> texts(const Document& document, const char* key);

}  // namespace schedmate::screen
