// SPDX-License-Identifier: Apache-2.0
#include "settings/version.hpp"

namespace schedmate::settings {

Version version() {
#ifdef __clang__
  constexpr std::string_view compiler = "clang " __clang_version__;
#else
  constexpr std::string_view compiler = "g++ " __VERSION__;
#endif
  return {SCHEDMATE_VERSION, SCHEDMATE_COMMIT, compiler, SCHEDMATE_BUILD_TYPE};
}

}  // namespace schedmate::settings
