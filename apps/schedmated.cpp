// SPDX-License-Identifier: Apache-2.0
/// schedmated: the daemon beside one cluster. With --replay it is the cluster of a replay instead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <string_view>
#include <utility>

#include "apps/console.hpp"
#include "daemon/program.hpp"
#include "secrets/outgoing.hpp"
#include "settings/version.hpp"
#include "slurm_live/library.hpp"
#include "slurm_live/library_child.hpp"

namespace schedmate {
namespace {

volatile std::sig_atomic_t stop_asked = 0, reload_asked = 0;
void heed(int signal) { (signal == SIGHUP ? reload_asked : stop_asked) = 1; }

int run_program(int count, char** words, char** environment) {
  const Console console;
  CLI::App parser{"SchedMate's daemon: watches a cluster, answers and decides", "schedmated"};
  daemon::Program program;
  program.environment = settings::read_environment(environment);
  program.stopped = [] { return stop_asked != 0; };
  program.reload_asked = [] { return std::exchange(reload_asked, 0) != 0; };
  program.say = [&](const std::string& line) {
    console.draw(fmt::format("schedmated: {}\n", secrets::safe_line(line)));
  };
  daemon::Task task = daemon::Task::serve;
  parser.set_version_flag("--version", fmt::format("schedmated {}", settings::version().version));
  parser.add_option("--config", program.sources.file, "settings file (TOML)")->type_name("FILE");
  parser.add_option("--set", program.pairs, "another setting")->type_name("KEY=VALUE");
  const auto be = [&](daemon::Task chosen) { return [&task, chosen] { task = chosen; }; };
  parser.add_flag_callback("--check", be(daemon::Task::check), "only check the settings");
  parser.add_flag_callback("--replay", be(daemon::Task::replay), "be the cluster of a replay");
  parser.add_option("--ui-dir", program.ui_folder, "files of the page")->type_name("DIR");
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
  if (done) done = daemon::run_task(task, program);
  if (!done) program.say(done.error().message);
  return done ? 0 : exit_code(done.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words, char** environment) {
  // As it starts itself, for nobody else: the process that has Slurm's library.
  if (count == 3 && std::string_view(words[1]) == schedmate::slurm_live::Library::word)
    return schedmate::slurm_live::serve_library(words[2]);
  return schedmate::run_program(count, words, environment);
}
