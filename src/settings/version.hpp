// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace schedmate::settings {

/// How this program was built. All but the compiler come from CMake.
struct Version {
  std::string_view version;
  std::string_view commit;  ///< "unknown" when it was not built from a git clone
  std::string_view compiler;
  std::string_view build_type;
};
[[nodiscard]] Version version();

}  // namespace schedmate::settings
