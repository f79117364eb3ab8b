// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/advice.hpp>

#include "base/document.hpp"

namespace schedmate::advisor {

/// schedmate.advice.v1 (docs/formats/advice.md); advice_json() is its text.
[[nodiscard]] Document advice_document(const Advice& advice);

}  // namespace schedmate::advisor
