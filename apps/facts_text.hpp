// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/facts.hpp>
#include <string>

namespace schedmate {

/// Facts as a table for people: value, how sure, where from, with the line that proves it.
[[nodiscard]] std::string facts_text(const Facts& facts, bool explain);

}  // namespace schedmate
