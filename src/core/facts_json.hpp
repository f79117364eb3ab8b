// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate.facts.v1` (docs/formats/facts.md): what is printed, sent to a model and kept in the
/// store.

#include <cstdint>
#include <schedmate/facts.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/document.hpp"

namespace schedmate {

/// The fixed fields in the order in which they are printed; each is always there, null if unknown.
[[nodiscard]] std::span<const std::string_view> fact_fields();

/// The fact of that name, or nullptr when it is absent or has no value.
[[nodiscard]] const Fact* known_fact(const Facts& facts, std::string_view field);

enum class FactsDetail : bool { found, with_rejected };  ///< or also the candidates that lost

/// Numbers that are none become null.
[[nodiscard]] Document facts_document(const Facts& facts, FactsDetail detail = FactsDetail::found);

/// It in one line.
[[nodiscard]] std::string facts_json(const Facts& facts, FactsDetail detail);

/// The reverse of it. Fields that are new to us are kept among the facts. Errors:
/// invalid when the text is no such document.
[[nodiscard]] Result<Facts> read_facts_json(std::string_view text);
[[nodiscard]] Result<Facts> read_facts_document(const Document& document);

/// "128", "true", "AdamW", "200 epochs"; "" for an unknown value.
[[nodiscard]] std::string value_text(const FactValue& value);

[[nodiscard]] std::string_view source_word(FactSource source);  ///< "default" for fallback
[[nodiscard]] std::string_view outlook_word(Outlook outlook);   ///< "evaluation only", "not known"

}  // namespace schedmate
