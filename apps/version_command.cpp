// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/version.hpp"
#include "base/document.hpp"

namespace schedmate {
namespace {

void print_version(bool json) {
  const Version built = version();
  if (json) {
    const Document document = {{"schema", "schedmate.version.v1"},
                               {"version", built.version},
                               {"commit", built.commit},
                               {"compiler", built.compiler},
                               {"build_type", built.build_type}};
    fmt::print("{}\n", indented(document));
    return;
  }
  fmt::print("schedmate {} (commit {}, {}, {})\n", built.version, built.commit, built.compiler,
             built.build_type);
}

}  // namespace

Command version_command(const Parser& parser) {
  parser.app.footer("Example:\n  schedmate version --json");
  return {[](const CommandCall& call) -> Result<int> {
    print_version(call.json);
    return 0;
  }};
}

}  // namespace schedmate
