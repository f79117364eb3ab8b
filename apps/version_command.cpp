// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/document.hpp"
#include "settings/version.hpp"

namespace schedmate {
namespace {

void print_version(const CommandCall& call) {
  const settings::Version built = settings::version();
  if (call.json) {
    const Document document = {{"schema", "schedmate.version.v1"},
                               {"version", built.version},
                               {"commit", built.commit},
                               {"compiler", built.compiler},
                               {"build_type", built.build_type}};
    call.console.json(document);
    return;
  }
  call.console.text(fmt::format("schedmate {} (commit {}, {}, {})\n", built.version, built.commit,
                                built.compiler, built.build_type));
}

}  // namespace

Command version_command(const Parser& parser) {
  parser.app.footer("Example:\n  schedmate version --json");
  return {[](const CommandCall& call) -> Result<int> {
    print_version(call);
    return 0;
  }};
}

}  // namespace schedmate
