// SPDX-License-Identifier: Apache-2.0

/// schedmated: the daemon beside one cluster. With --replay it is the cluster of a replay instead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <utility>

#include "apps/console.hpp"
#include "apps/version.hpp"
#include "daemon/program.hpp"
#include "service/redaction.hpp"
#include "settings/settings_file.hpp"

namespace schedmate {
namespace {

volatile std::sig_atomic_t stop_asked = 0, reload_asked = 0;
void heed(int signal) { (signal == SIGHUP ? reload_asked : stop_asked) = 1; }

struct Flags {
  settings::SettingsSources sources;
  std::vector<std::string> pairs;
  daemon::Task task = daemon::Task::serve;
  std::string ui_folder;
};

Result<void> run(const Flags& flags, const char* const* environment, const daemon::Say& say) {
  return daemon::run_task(
      flags.task,
      {flags.sources, settings::read_environment(environment), [] { return stop_asked != 0; },
       [] { return std::exchange(reload_asked, 0) != 0; }, say, flags.pairs, flags.ui_folder});
}

int run_program(int count, char** words, char** environment) {
  const Console console;
  const auto say = [&](const std::string& line) {
    console.draw(fmt::format("schedmated: {}\n", service::safe_line(line)));
  };
  CLI::App parser{"SchedMate's daemon: watches a cluster, answers and decides", "schedmated"};
  Flags flags;
  parser.set_version_flag("--version", fmt::format("schedmated {}", version().version));
  parser.add_option("--config", flags.sources.file, "settings file (TOML)")->type_name("FILE");
  parser.add_option("--set", flags.pairs, "another setting")->type_name("KEY=VALUE");
  const auto be = [&](daemon::Task task) { return [&flags, task] { flags.task = task; }; };
  parser.add_flag_callback("--check", be(daemon::Task::check), "only check the settings");
  parser.add_flag_callback("--replay", be(daemon::Task::replay), "be the cluster of a replay");
  parser.add_option("--ui-dir", flags.ui_folder, "files of the page")->type_name("DIR");
  Result<void> done;
  try {
    parser.parse(count, words);
  } catch (const CLI::Success& asked) {
    return parser.exit(asked);
  } catch (const CLI::ParseError& error) {
    done = fail(ErrorCode::unsupported, fmt::format("{} (schedmated --help)", error.what()));
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, heed);
  std::signal(SIGPIPE, SIG_IGN);
  if (done) done = run(flags, environment, say);
  if (!done) say(done.error().message);
  return done ? 0 : exit_code(done.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words, char** environment) {
  return schedmate::run_program(count, words, environment);
}
