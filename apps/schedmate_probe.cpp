// SPDX-License-Identifier: Apache-2.0

/// schedmate-probe: what `schedmate probe` does for good, as a program of its own that takes less
/// of a compute node.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/words.hpp"
#include "probe/request.hpp"
#include "settings/clock.hpp"
#include "settings/settings_file.hpp"

namespace schedmate {
namespace {

struct Flags {
  settings::SettingsSources sources;
  std::vector<std::string> pairs;
  probe::ProbeRequest request;
};

void say(const std::string& line) { fmt::print(stderr, "schedmate-probe: {}\n", printable(line)); }

void add_flags(CLI::App& parser, Flags& flags) {
  const auto text = [&](const char* name, std::string& to, const char* help) {
    parser.add_option(name, to, help);
  };
  text("--config", flags.sources.file, "settings file (TOML)");
  parser.add_option("--set", flags.pairs, "another setting")->type_name("KEY=VALUE");
  text("--node", flags.request.node, "name of this node, as the cluster has it");
  text("--nvml-from", flags.request.nvml_from, "file to read GPUs from instead of NVML");
  text("--kernel-log", flags.request.kernel_log, "file to follow instead of /dev/kmsg");
  parser.add_flag("--once", flags.request.once, "print one sample as JSON; send nothing");
  const auto setting = [&](const std::string& flag, const std::string& key) {
    parser.add_option_function<std::string>(
        flag, [&flags, key](const std::string& value) { flags.pairs.push_back(key + "=" + value); },
        "setting " + key);
  };
  setting("--address", "probe.address");
  setting("--every", "probe.every_s");
  setting("--dcgm", "probe.dcgm");
}

Result<void> run(Flags& flags, const char* const* environment) {
  auto given = settings::read_pairs(flags.pairs, "--set");
  if (!given) return tl::unexpected(given.error());
  flags.sources.given = std::move(*given);
  auto around = settings::read_environment(environment);
  auto settings = settings::load_settings(flags.sources, around);
  if (!settings) return tl::unexpected(settings.error());
  const settings::Session session{std::move(around), *std::move(settings),
                                  settings::machine_clock()};
  const auto options = probe::options_of(session, flags.request);
  if (!options) return tl::unexpected(options.error());
  if (!flags.request.once)
    return probe::run(*options, {.clock = session.clock,
                                 .stopped = [] { return false; },
                                 .report = say,
                                 .seed = mix(hash_bytes(options->key.node))});
  return probe::look_once(*options, session.clock).map([](const probe::Report& report) {
    fmt::print("{}\n", probe::report_text(report));
  });
}

int run_program(int count, char** words, char** environment) {
  CLI::App parser{"SchedMate's probe: watches the GPUs and the kernel of a compute node",
                  "schedmate-probe"};
  Flags flags;
  add_flags(parser, flags);
  Result<void> done;
  try {
    parser.parse(count, words);
  } catch (const CLI::Success& asked) {
    return parser.exit(asked);
  } catch (const CLI::ParseError& error) {
    done = fail(ErrorCode::unsupported, fmt::format("{} (schedmate-probe --help)", error.what()));
  }
  std::signal(SIGPIPE, SIG_IGN);
  if (done) done = run(flags, environment);
  if (!done) say(done.error().message);
  return done ? 0 : exit_code(done.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words, char** environment) {
  return schedmate::run_program(count, words, environment);
}
