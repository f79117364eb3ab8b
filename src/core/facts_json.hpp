// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate.facts.v1` (design 4.2): what is printed, sent to a model and kept in the store.

#include <cstdint>
#include <schedmate/facts.hpp>
#include <span>
#include <string>
#include <string_view>

namespace schedmate {

/// The fixed fields in the order in which they are printed; each is always there, null if unknown.
[[nodiscard]] std::span<const std::string_view> fact_fields();

/// The fact of that name, or nullptr when it is absent or has no value.
[[nodiscard]] const Fact* known_fact(const Facts& facts, std::string_view field);

struct FactsJsonOptions {
  bool explain = false;  ///< with the candidates that lost
  bool indented = true;  ///< for people; else one line
};

/// Always valid JSON: bytes that are no UTF-8 become U+FFFD, numbers that are none become null.
[[nodiscard]] std::string facts_json(const Facts& facts, const FactsJsonOptions& options);

/// The reverse of facts_json. Fields that are new to us are kept among the facts. Errors: invalid
/// when the text is no such document.
[[nodiscard]] Result<Facts> read_facts_json(std::string_view text);

/// "128", "true", "AdamW", "200 epochs"; "" for an unknown value.
[[nodiscard]] std::string value_text(const FactValue& value);

[[nodiscard]] std::string_view source_word(FactSource source);  ///< "default" for fallback
[[nodiscard]] std::string_view outlook_word(Outlook outlook);   ///< "evaluation only"

}  // namespace schedmate
