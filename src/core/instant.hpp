// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <schedmate/time.hpp>
#include <string>

#include "base/document.hpp"

namespace schedmate {

/// RFC 3339 beside the seconds: {NAME: "...Z", NAME_s: N}; both null where there is none.
void put_instant(Document& document, const std::string& name, std::optional<SimTime> when);

}  // namespace schedmate
