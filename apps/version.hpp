// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace schedmate {

/// How this program was built. All but the compiler come from CMake.
struct Version {
  std::string_view version;
  std::string_view commit;  ///< "unknown" when it was not built from a git clone
  std::string_view compiler;
  std::string_view build_type;
  /// SHA-256 (hex) of the sources that decide what a replay gives, comments and all.
  std::string_view replay_code;
  std::string_view elastic_code;  ///< the same of simulations of elastic jobs
};
[[nodiscard]] Version version();

/// `schedmate version`: one line, or JSON.
void print_version(bool json);

}  // namespace schedmate
