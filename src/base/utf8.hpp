// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace schedmate {

/// A Unicode code point as one to four bytes.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace schedmate
