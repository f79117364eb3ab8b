// SPDX-License-Identifier: Apache-2.0

/// The program: its parser, and the way to each command of commands.def.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <new>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress_bar.hpp"
#include "apps/version.hpp"
#include "service/redaction.hpp"

namespace schedmate {
namespace {

constexpr int usage_error = 2;

struct MadeCommand {
  const CLI::App* parser;
  Command command;
};

std::vector<MadeCommand> make_commands(CLI::App& program, CommonFlags& common) {
  std::vector<MadeCommand> commands;
  for (const CommandRow& row : command_rows()) {
    CLI::App& parser = *program.add_subcommand(std::string(row.name), std::string(row.summary));
    add_common(parser, common);
    commands.push_back({&parser, row.make({parser, common})});
  }
  return commands;
}

/// The settings file, then --set, then the flags. Errors: as load_settings.
Result<settings::Settings> settle(CommonFlags common, const settings::Environment& environment) {
  std::vector<settings::SettingsSources::Given> given;
  for (const std::string& pair : common.pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return fail(ErrorCode::unsupported,
                  fmt::format("--set {}: must have the form KEY=VALUE", pair));
    given.push_back({pair.substr(0, equals), pair.substr(equals + 1), "--set"});
  }
  auto& flags = common.sources.given;
  flags.insert(flags.begin(), given.begin(), given.end());
  return settings::load_settings(common.sources, environment);
}

Result<int> run(const CLI::App& program, const std::vector<MadeCommand>& commands,
                const CommonFlags& common, settings::Environment environment) {
  if (auto ok = check_known(program); !ok) return tl::unexpected(ok.error());
  const auto chosen =
      std::ranges::find_if(commands, [](const MadeCommand& each) { return each.parser->parsed(); });
  if (chosen == commands.end()) {
    fmt::print(stderr, "{}", program.help());
    return usage_error;
  }
  if (auto ok = chosen->command.check(); !ok) return tl::unexpected(ok.error());
  auto settings = settle(common, environment);
  if (!settings) return tl::unexpected(settings.error());
  const Clock clock = settings::machine_clock();
  auto progress = progress_bars(environment.progress, clock);
  const settings::Session session{std::move(environment), *std::move(settings), clock,
                                  std::move(progress)};
  return chosen->command.run({session, common.json});
}

int complain(const Error& error) {
  fmt::print(stderr, "schedmate: {}\n", service::safe_text(error.message));
  return exit_code(error.code);
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv, char** environment) {
  namespace sm = schedmate;
  sm::clean_up_when_interrupted();
  sm::CommonFlags common;
  CLI::App program("GPU-cluster scheduling: replay, compare and explain", "schedmate");
  program.set_version_flag("--version", fmt::format("schedmate {}", sm::version().version));
  sm::add_common(program, common);
  program.require_subcommand(0, 1);
  const auto commands = sm::make_commands(program, common);
  try {
    program.parse(argc, argv);
    const auto done =
        sm::run(program, commands, common, sm::settings::read_environment(environment));
    return done ? *done : sm::complain(done.error());
  } catch (const CLI::Success& asked) {  // --help, --version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    return sm::complain({sm::ErrorCode::unsupported, error.what()});
  } catch (const std::bad_alloc&) {
    return sm::complain({sm::ErrorCode::unavailable, "out of memory"});
  }
}
