// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A JSON document, or a part of one, as a value. Whoever owns a type writes it once, as a
/// `Document`; larger documents take it over, and only the last one becomes text.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace schedmate {

using Document = nlohmann::ordered_json;

/// Text that is always valid JSON and safe to show: bytes that are no UTF-8 become U+FFFD, and what
/// could command a terminal or turn the direction of writing (is_unsafe() of utf8.hpp) is escaped.
[[nodiscard]] std::string in_one_line(const Document& document);
[[nodiscard]] std::string indented(const Document& document);  ///< by two spaces, for people

/// The value of a key; null where there is none, or no object.
[[nodiscard]] const Document& part(const Document& document, const char* key);

}  // namespace schedmate
