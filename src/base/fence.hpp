// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How text of jobs and logs is shown to a language model.

#include <cstdint>
#include <string>
#include <string_view>

namespace schedmate {

/// Text between two marks that no text in it can forge: their number is drawn again until it does
/// not occur.
[[nodiscard]] std::string fenced(std::string_view title, std::string_view text, std::uint64_t seed);

}  // namespace schedmate
