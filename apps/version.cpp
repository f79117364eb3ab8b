// SPDX-License-Identifier: Apache-2.0
#include "apps/version.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace schedmate {

namespace embedded {
extern const std::string_view replay_code;
extern const std::string_view elastic_code;
}  // namespace embedded

Version version() {
#ifdef __clang__
  constexpr std::string_view compiler = "clang " __clang_version__;
#else
  constexpr std::string_view compiler = "g++ " __VERSION__;
#endif
  return {SCHEDMATE_VERSION,    SCHEDMATE_COMMIT,      compiler,
          SCHEDMATE_BUILD_TYPE, embedded::replay_code, embedded::elastic_code};
}

void print_version(bool json) {
  const Version built = version();
  if (json) {
    const nlohmann::ordered_json document = {{"schema", "schedmate.version.v1"},
                                             {"version", built.version},
                                             {"commit", built.commit},
                                             {"compiler", built.compiler},
                                             {"build_type", built.build_type}};
    fmt::print("{}\n", document.dump(2));
    return;
  }
  fmt::print("schedmate {} (commit {}, {}, {})\n", built.version, built.commit, built.compiler,
             built.build_type);
}

}  // namespace schedmate
