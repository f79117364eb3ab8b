// SPDX-License-Identifier: Apache-2.0

/// schedmated: the daemon beside one cluster. `--replay` is the cluster of a replay instead, which
/// outlives the daemon.

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <memory>

#include "apps/version.hpp"
#include "base/own_files.hpp"
#include "daemon/daemon.hpp"
#include "replay/server.hpp"
#include "settings/settings_file.hpp"

namespace schedmate {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int /*signal*/) { stop_asked = 1; }

void say(const std::string& line) { fmt::print(stderr, "schedmated: {}\n", line); }

std::string user_name(unsigned uid) {
  std::array<char, 4096> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
    return {};
  return entry.pw_name;
}

struct Flags {
  settings::SettingsSources sources;
  bool check = false, replay = false;
};

Result<void> serve_replay(const daemon::Configuration& configuration, const Clock& clock) {
  if (auto made = make_own_folder(configuration.state_dir); !made)
    return tl::unexpected(made.error());
  replay::ReplayCluster cluster(configuration.replay->trace, configuration.replay->cluster, {});
  const std::string socket = configuration.state_dir + "/replay.sock";
  say(fmt::format("replay of {} jobs on {}", configuration.replay->trace.jobs.size(), socket));
  return replay::serve(cluster, {.socket = socket,
                                 .ledger = configuration.state_dir + "/replay.jsonl",
                                 .speed = configuration.replay->speed,
                                 .clock = clock,
                                 .stopped = [] { return stop_asked != 0; }});
}

Result<void> run(const Flags& flags, const char* const* environment) {
  settings::Environment around = settings::read_environment(environment);
  auto settings = settings::load_settings(flags.sources, around);
  if (!settings) return tl::unexpected(settings.error());
  const settings::Session session{std::move(around), std::move(*settings),
                                  settings::machine_clock()};
  const auto configuration = daemon::configure(session);
  if (!configuration) return tl::unexpected(configuration.error());
  if (flags.check) {
    say("the settings are sound");
    return {};
  }
  if (flags.replay) return serve_replay(*configuration, session.clock);
  const auto ready = [&] {
    const http::ServerOptions& doors = configuration->http;
    const bool both = !doors.unix_path.empty() && !doors.tcp.empty();
    say(fmt::format("ready on {}{}{}", doors.unix_path, both ? ", " : "", doors.tcp));
  };
  return daemon::run(*configuration, {.clock = session.clock,
                                      .stopped = [] { return stop_asked != 0; },
                                      .report = say,
                                      .ready = ready,
                                      .user_name = user_name});
}

int run_program(int count, char** words, const char* const* environment) {
  CLI::App parser{"SchedMate's daemon: watches a cluster, answers and decides", "schedmated"};
  Flags flags;
  std::vector<std::string> pairs;
  parser.set_version_flag("--version", fmt::format("schedmated {}", version().version));
  parser.add_option("--config", flags.sources.file, "settings file (TOML)")->type_name("FILE");
  parser.add_option("--set", pairs, "a setting instead of the file's")->type_name("KEY=VALUE");
  parser.add_flag("--check", flags.check, "read the settings and say what is wrong with them");
  parser.add_flag("--replay", flags.replay,
                  "be the cluster of cluster.replay, beside which a daemon with the same settings "
                  "runs");
  CLI11_PARSE(parser, count, words);
  for (const std::string& pair : pairs) {
    const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
    flags.sources.given.push_back({pair.substr(0, equals), pair.substr(equals + 1), "--set"});
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, ask_to_stop);
  std::signal(SIGPIPE, SIG_IGN);
  const auto done = run(flags, environment);
  if (done) return 0;
  say(done.error().message);
  return exit_code(done.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words, char** environment) {
  return schedmate::run_program(count, words, environment);
}
