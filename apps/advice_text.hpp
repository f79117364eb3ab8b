// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/advice.hpp>
#include <string>

namespace schedmate {

/// Advice for people.
[[nodiscard]] std::string advice_text(const Advice& advice);

}  // namespace schedmate
