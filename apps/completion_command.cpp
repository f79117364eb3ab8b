// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/command.hpp"
#include "apps/completion.hpp"
#include "apps/program.hpp"

namespace schedmate {

Command completion_command(const Parser& parser) {
  const auto shell = std::make_shared<std::string>();
  parser.app.footer("Example:\n  source <(schedmate completion bash)");
  parser.app.add_option("shell", *shell, "bash, zsh or fish")->type_name("SHELL");
  const CLI::App& program = *parser.app.get_parent();
  return {[shell, &program](const CommandCall& call) {
            return completion(*shell, describe(program)).map([&](const std::string& script) {
              call.console.verbatim(script);
              return 0;
            });
          },
          [shell] { return need(!shell->empty(), "completion", "bash, zsh or fish"); }};
}

}  // namespace schedmate
