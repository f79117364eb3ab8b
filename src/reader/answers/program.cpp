// SPDX-License-Identifier: Apache-2.0
#include "reader/answers/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/text.hpp"
#include "reader/answers/work.hpp"
#include "reader/rights.hpp"
#include "reader/server.hpp"
#include "secrets/outgoing.hpp"
#include "settings/clock.hpp"
#include "settings/identity.hpp"

namespace schedmate::reader {
namespace {

constexpr std::string_view usage =
    "Usage: schedmate-reader [--socket PATH] [--config FILE] [--set KEY=VALUE]...\n"
    "Reads logs and trees for users, each with the user's rights (docs/reader.md).\n"
    "  --socket PATH    where to listen; default: setting reader.socket\n"
    "  --config FILE    settings file (TOML)\n"
    "  --set KEY=VALUE  another setting\n"
    "  --work           what it starts for each request: reads one on standard input\n";

sigset_t ends() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

bool is_told_to_stop() {
  const sigset_t set = ends();
  const timespec at_once{};
  return ::sigtimedwait(&set, nullptr, &at_once) > 0;
}

/// A socket that systemd listens on for this process (sd_listen_fds); none where it does not.
Descriptor door_of_systemd(const settings::Environment& environment) {
  constexpr int first = 3;
  const auto process = parse_number<pid_t>(environment.variable("LISTEN_PID"));
  if (process != ::getpid() || environment.variable("LISTEN_FDS") != "1") return {};
  ::fcntl(first, F_SETFD, FD_CLOEXEC);
  return Descriptor(first);
}

/// Names that this system does not know are left out, and named.
std::vector<uid_t> uids_of(const std::vector<std::string>& names, const Say& say) {
  std::vector<uid_t> found;
  for (const std::string& name : names)
    if (const auto who = settings::identity_of(name))
      found.push_back(who->user.value_or(0));
    else
      say(fmt::format("setting reader.askers: this system has no user {}", name));
  return found;
}

std::chrono::seconds seconds_in(const settings::Settings& settings, std::string_view key) {
  return std::chrono::seconds(settings.whole(key));
}

ServeOptions options_of(const settings::Settings& settings, const Say& say) {
  const auto size = [&](std::string_view key) {
    return static_cast<std::size_t>(settings.whole(key));
  };
  ServeOptions made;
  made.quotas.children = size("reader.children");
  made.quotas.children_of_user = size("reader.children_per_user");
  made.quotas.waiting_of_user = size("reader.waiting_per_user");
  made.quotas.cpu_per_minute = seconds_in(settings, "reader.cpu_s_per_minute");
  made.quotas.bytes_per_minute = size("reader.read_mib_per_minute") << 20U;
  made.quotas.deadline = seconds_in(settings, "reader.deadline_s");
  made.limits.cpu = made.limits.wall = seconds_in(settings, "reader.deadline_s");
  made.limits.memory_bytes = size("reader.memory_mib") << 20U;
  made.limits.least_user = static_cast<uid_t>(size("reader.uid_min"));
  made.askers = uids_of(settings.names("reader.askers"), say);
  made.settings = settings_of_answers(settings);
  made.clock = settings::machine_clock();
  made.stopped = is_told_to_stop;
  return made;
}

Result<void> run_reader(const CommandLine& given, const settings::Environment& environment,
                        const Say& say) {
  const auto settings = settings::load_settings(given.sources, environment);
  if (!settings) return tl::unexpected(settings.error());
  const ServeOptions options = options_of(*settings, say);
  Descriptor door = door_of_systemd(environment);
  const bool is_own = !door;
  std::string path = given.socket.empty() ? settings->text("reader.socket") : given.socket;
  if (is_own) {
    if (path.empty())
      return fail(ErrorCode::invalid,
                  "setting reader.socket: give the path of the socket to listen on, here or with "
                  "--socket");
    auto made = open_door(
        path, options.askers.empty() ? std::nullopt : std::optional(options.askers.front()));
    if (!made) return tl::unexpected(made.error());
    door = std::move(*made);
  }
  say(fmt::format("ready on {}, reads {}", is_own ? path : "the socket of systemd",
                  may_become_others()
                      ? fmt::format("as any user from {} on", options.limits.least_user)
                      : fmt::format("as user {} only", ::geteuid())));
  auto served = serve(door, options);
  if (is_own) ::unlink(path.c_str());
  return served;
}

}  // namespace

Result<CommandLine> read_command_line(std::span<const char* const> words) {
  constexpr std::array<std::string_view, 5> flags = {"--socket", "--config", "--set", "--work",
                                                     "--help"};
  CommandLine made;
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view flag = words[i];
    if (flag == "--work" || flag == "--help") {
      made.task = flag == "--work" ? CommandLine::Task::work : CommandLine::Task::help;
      continue;
    }
    if (std::ranges::find(flags, flag) == flags.end())
      return fail(ErrorCode::unsupported, unknown_name("flag", flag, flags));
    if (++i == words.size())
      return fail(ErrorCode::unsupported, fmt::format("{} needs a value", flag));
    if (flag == "--socket") made.socket = words[i];
    if (flag == "--config") made.sources.file = words[i];
    if (flag == "--set") pairs.emplace_back(words[i]);
  }
  auto given = settings::read_pairs(pairs, "--set");
  if (!given) return tl::unexpected(given.error());
  made.sources.given = std::move(*given);
  return made;
}

int run_program(std::span<const char* const> words, const char* const* environment,
                const Say& print, const Say& say) {
  const auto say_line = [&](const std::string& line) {
    say(fmt::format("schedmate-reader: {}\n", secrets::safe_line(line)));
  };
  const auto given = read_command_line(words);
  Result<void> done;
  if (!given) {
    done = tl::unexpected(given.error());
  } else if (given->task == CommandLine::Task::help) {
    print(std::string(usage));
  } else if (given->task == CommandLine::Task::work) {
    return work(settings::read_environment(environment), settings::machine_clock());
  } else {
    const sigset_t set = ends();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    done = run_reader(*given, settings::read_environment(environment), say_line);
  }
  if (!done) say_line(done.error().message);
  return done ? 0 : exit_code(done.error().code);
}

}  // namespace schedmate::reader
