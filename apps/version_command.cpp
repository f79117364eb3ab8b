// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/version.hpp"

namespace schedmate {

Command version_command(const Parser& parser) {
  parser.app.footer("Example:\n  schedmate version --json");
  return {[](const Call& call) -> Result<int> {
    print_version(call.json);
    return 0;
  }};
}

}  // namespace schedmate
