// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The difference of two texts as `diff -u` and `patch` write and read it.

#include <string>
#include <string_view>

namespace schedmate {

struct DiffSide {
  std::string_view name;  ///< "/dev/null": there is no such file
  std::string_view text;
};

/// "" where the texts are alike. For small changes of texts of any length.
[[nodiscard]] std::string unified_diff(const DiffSide& before, const DiffSide& after);

}  // namespace schedmate
