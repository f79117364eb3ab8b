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

int run_program(int count, char** words, char** environment) {
  const Console console;
  const auto say = [&](const std::string& line) {
    console.draw(fmt::format("schedmated: {}\n", service::safe_line(line)));
  };
  CLI::App parser{"SchedMate's daemon: watches a cluster, answers and decides", "schedmated"};
  settings::SettingsSources sources;
  std::vector<std::string> pairs;
  bool check = false, replay = false;
  parser.set_version_flag("--version", fmt::format("schedmated {}", version().version));
  parser.add_option("--config", sources.file, "settings file (TOML)")->type_name("FILE");
  parser.add_option("--set", pairs, "a setting instead of the file's")->type_name("KEY=VALUE");
  parser.add_flag("--check", check, "read the settings and say what is wrong with them");
  parser.add_flag("--replay", replay,
                  "be the cluster of cluster.replay, for a daemon with the same settings");
  CLI11_PARSE(parser, count, words);
  for (const std::string& pair : pairs) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    sources.given.push_back(
        {pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())), "--set"});
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, heed);
  std::signal(SIGPIPE, SIG_IGN);
  auto around = settings::read_environment(environment);
  auto settings = settings::load_settings(sources, around);
  Result<void> done = settings.map([](const auto&) {});
  if (settings) {
    const settings::Session session{std::move(around), *settings, settings::machine_clock()};
    const auto task =
        replay ? daemon::Task::replay : (check ? daemon::Task::check : daemon::Task::serve);
    const auto again = [&] { return settings::load_settings(sources, session.environment); };
    const auto is_asked = [] { return std::exchange(reload_asked, 0) != 0; };
    done = daemon::run_task(task, {session, again, [] { return stop_asked != 0; }, is_asked, say});
  }
  if (!done) say(done.error().message);
  return done ? 0 : exit_code(done.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words, char** environment) {
  return schedmate::run_program(count, words, environment);
}
