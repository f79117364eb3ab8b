// SPDX-License-Identifier: Apache-2.0

/// The program: its parser, and the way to each command of commands.def.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress_bar.hpp"
#include "service/models.hpp"
#include "settings/state_folder.hpp"
#include "settings/version.hpp"

namespace schedmate {
namespace {

constexpr int usage_error = 2;

struct MadeCommand {
  const CLI::App* parser;
  Command command;
  bool uses_state;
};

std::vector<MadeCommand> make_commands(CLI::App& program, CommonFlags& common) {
  std::vector<MadeCommand> commands;
  for (const CommandRow& row : command_rows()) {
    CLI::App& parser = *program.add_subcommand(std::string(row.name), std::string(row.summary));
    add_common(parser, common);
    commands.push_back({&parser, row.make({parser, common}), row.uses_state});
  }
  return commands;
}

/// The settings file, then --set, then the flags. Errors: as load_settings.
Result<settings::Settings> settle(CommonFlags common, const settings::Environment& environment) {
  auto given = settings::read_pairs(common.pairs, "--set");
  if (!given) return tl::unexpected(given.error());
  auto& flags = common.sources.given;
  flags.insert(flags.begin(), given->begin(), given->end());
  return settings::load_settings(common.sources, environment);
}

struct Program {
  CLI::App parser{"GPU-cluster scheduling: replay, compare and explain", "schedmate"};
  CommonFlags common;
  std::vector<MadeCommand> commands;
};

void prepare(Program& program) {
  program.parser.set_version_flag("--version",
                                  fmt::format("schedmate {}", settings::version().version));
  add_common(program.parser, program.common);
  program.parser.require_subcommand(0, 1);
  program.commands = make_commands(program.parser, program.common);
}

Result<int> run(const Program& program, settings::Environment environment, Console& console) {
  if (auto ok = check_known(program.parser); !ok) return tl::unexpected(ok.error());
  const auto chosen = std::ranges::find_if(
      program.commands, [](const MadeCommand& each) { return each.parser->parsed(); });
  if (chosen == program.commands.end()) {
    console.draw(program.parser.help());
    return usage_error;
  }
  if (auto ok = chosen->command.check(); !ok) return tl::unexpected(ok.error());
  auto settings = settle(program.common, environment);
  if (!settings) return tl::unexpected(settings.error());
  if (environment.colour) console.show_styles();
  console.fit(environment.columns);
  const Clock clock = settings::machine_clock();
  auto progress = progress_bars(environment.progress ? &console : nullptr, clock);
  settings::Session session{std::move(environment), *std::move(settings), clock,
                            std::move(progress)};
  // The tokens of models are counted there.
  if (chosen->uses_state || service::uses_models(session.settings)) {
    const auto ended = settings::watch_state_folder(session);
    if (!ended) return tl::unexpected(ended.error());
    if (*ended) return **ended;
  }
  return chosen->command.run({session, console, program.common.json});
}

/// Also where the command line could not be understood: it may have stopped before this flag.
bool wants_json(std::span<char* const> words) {
  return std::ranges::any_of(words, [](std::string_view word) { return word == "--json"; });
}

int run_program(std::span<char* const> words, const char* const* environment, Console& console) {
  const auto fails = [&](ErrorCode code, std::string message) {
    return complain({code, std::move(message)}, wants_json(words), console);
  };
  try {
    Program program;
    prepare(program);
    try {
      program.parser.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::Success& asked) {  // --help, --version
      for (const MadeCommand& each : program.commands)
        if (each.parser->parsed()) each.command.narrow_help();
      std::ostringstream text;
      const int status = program.parser.exit(asked, text, text);
      console.text(text.str());
      return status;
    }
    const auto done = run(program, settings::read_environment(environment), console);
    return done ? *done : fails(done.error().code, done.error().message);
  } catch (const CLI::ParseError& error) {
    return fails(ErrorCode::unsupported, error.what());
  } catch (const std::bad_alloc&) {
    return fails(ErrorCode::unavailable, "out of memory");
  } catch (const std::exception& error) {  // a library's, which its module did not catch
    return fails(ErrorCode::unavailable, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv, char** environment) {
  namespace sm = schedmate;
  sm::clean_up_when_interrupted();
  sm::Console console;
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  return console.finish(sm::run_program(words, environment, console));
}
