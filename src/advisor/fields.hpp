// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Facts in the form in which jobs are compared: field -> normalised value (JobRecord::fields).
/// Beside the fields of the facts: `expect` and `runs`, `gpu_type`, from the extra facts
/// `accumulation`, and where files were read `method`, `variant` and `program` (variant.hpp).

#include <map>
#include <optional>
#include <schedmate/facts.hpp>
#include <string>
#include <string_view>

namespace schedmate::advisor {

using Fields = std::map<std::string, std::string, std::less<>>;

/// Only known facts; without paths, run names and names of people.
[[nodiscard]] Fields fields_of(const Facts& facts);

/// "" when the field is absent.
[[nodiscard]] std::string_view field(const Fields& fields, std::string_view name);
/// The field as a number, if it is one.
[[nodiscard]] std::optional<double> number_field(const Fields& fields, std::string_view name);
/// "200 epochs" as a value.
[[nodiscard]] std::optional<Length> parse_length(std::string_view text);
[[nodiscard]] std::optional<Length> length_field(const Fields& fields);

/// The text that is embedded: one word per fact, numbers also as classes of size, so that near
/// values share a word. "" when too little is known to find anything by it.
[[nodiscard]] std::string embedding_text(const Fields& fields);

}  // namespace schedmate::advisor
