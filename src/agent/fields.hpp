// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a model may be asked for, and when a binding proves an answer (fields.def).

#include <optional>
#include <schedmate/facts.hpp>
#include <span>
#include <string_view>

#include "agent/binding.hpp"

namespace schedmate::agent {

enum class FieldKind : std::uint8_t {
  name,       ///< words, compared loosely
  word,       ///< the name of something that is called
  module,     ///< an imported package
  strategy,   ///< distributed
  whole,      ///< a count
  number,     ///< any number
  length,     ///< {amount, unit}
  precision,  ///< a word of docs/formats/facts.md
  optimizer,  ///< a class or its usual name
  scale,      ///< small, medium, large
  flag,       ///< true or false
};

struct Field {
  std::string_view name;
  FieldKind kind;
  std::string_view keys;
  std::string_view meaning;
};
[[nodiscard]] std::span<const Field> agent_fields();
[[nodiscard]] const Field* find_field(std::string_view name);

/// The value in the field's type and vocabulary. Nothing when it has another type, is outside what
/// can be meant (a batch of -1, an epoch count of 1e30), or is no word of the vocabulary.
[[nodiscard]] std::optional<FactValue> value_for(const Field& field, const FactValue& claimed);

/// Does the binding's key set this field? Generic keys (type, name, _target_) count by their owner.
[[nodiscard]] bool sets_field(const Field& field, const Binding& binding);
/// Does the binding hold this value, given that it sets the field?
[[nodiscard]] bool holds_value(const Field& field, const Binding& binding, const FactValue& value);

/// For comparing answers of several samples: "CIFAR-10" and "cifar10" are one.
[[nodiscard]] std::string comparable(const FactValue& value);
/// For messages and prompts.
[[nodiscard]] std::string shown(const FactValue& value);

/// Words of `name` that stand in `text` too, as share of its words; sizes by their letter or their
/// word; 0 when a number of the name is missing there.
[[nodiscard]] double shared_words(std::string_view name, std::string_view text);
/// "7b" -> 7e9, "350m" -> 3.5e8: the first such word.
[[nodiscard]] std::optional<double> parameters_named(std::string_view text);
[[nodiscard]] std::optional<double> number_of(std::string_view text);

}  // namespace schedmate::agent
