// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The files of an invented workload, read from memory; `file` names them in errors.

#include <schedmate/recipe.hpp>
#include <string>
#include <string_view>

namespace schedmate::workload {

[[nodiscard]] Result<Recipe> parse_recipe(std::string_view text, const std::string& file);
[[nodiscard]] Result<InterferenceModel> parse_interference(std::string_view text,
                                                           const std::string& file);
[[nodiscard]] Result<ExtractionErrors> parse_extraction_errors(std::string_view text,
                                                               const std::string& file);

}  // namespace schedmate::workload
