// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the names of classes and files show of a model.

#include "facts/tables.hpp"

namespace schedmate::facts {

/// Letters and digits alone, in small letters.
[[nodiscard]] std::string flat_name(std::string_view text);

/// What a class is called when its own name does not say which of the family's sizes it is.
[[nodiscard]] std::string name_of_class(const ModelMatch& match, std::string_view type);

/// Its name is that of whatever was trained before.
[[nodiscard]] bool is_file_of_weights(std::string_view path);

/// A class name that says which part or frame of a model it is, not which model.
[[nodiscard]] bool is_part_name(std::string_view name);

/// Layers that zoos offer beside their models, and activations.
[[nodiscard]] bool is_layer_name(std::string_view name);

}  // namespace schedmate::facts
