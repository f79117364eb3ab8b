// SPDX-License-Identifier: Apache-2.0
#include "reader/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/text.hpp"
#include "reader/rights.hpp"
#include "reader/server.hpp"
#include "reader/work.hpp"
#include "settings/clock.hpp"
#include "settings/identity.hpp"

namespace schedmate::reader {
namespace {

/// A socket that systemd listens on for this process (sd_listen_fds); none where it does not.
Descriptor door_of_systemd(const settings::Environment& environment) {
  constexpr int first = 3;
  const auto process = parse_number<pid_t>(environment.variable("LISTEN_PID"));
  if (process != ::getpid() || environment.variable("LISTEN_FDS") != "1") return {};
  ::fcntl(first, F_SETFD, FD_CLOEXEC);
  return Descriptor(first);
}

/// Names that this system does not know are left out, and named.
std::vector<uid_t> uids_of(const std::vector<std::string>& names, const Program& program) {
  std::vector<uid_t> found;
  for (const std::string& name : names)
    if (const auto who = settings::identity_of(name))
      found.push_back(who->user.value_or(0));
    else
      program.say(fmt::format("setting reader.askers: this system has no user {}", name));
  return found;
}

std::chrono::seconds seconds_in(const settings::Settings& settings, std::string_view key) {
  return std::chrono::seconds(settings.whole(key));
}

ServeOptions options_of(const settings::Settings& settings, const Program& program) {
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
  made.askers = uids_of(settings.names("reader.askers"), program);
  for (const std::string& key : settings_of_answers()) made.settings[key] = settings.text(key);
  made.clock = settings::machine_clock();
  made.stopped = program.stopped;
  made.report = program.say;
  return made;
}

}  // namespace

Result<void> run_reader(const Program& program) {
  const auto settings = settings::load_settings(program.sources, program.environment);
  if (!settings) return tl::unexpected(settings.error());
  const ServeOptions options = options_of(*settings, program);
  Descriptor door = door_of_systemd(program.environment);
  const bool is_own = !door;
  std::string path = program.socket.empty() ? settings->text("reader.socket") : program.socket;
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
  program.say(fmt::format("ready on {}, reads {}", is_own ? path : "the socket of systemd",
                          may_become_others()
                              ? fmt::format("as any user from {} on", options.limits.least_user)
                              : fmt::format("as user {} only", ::geteuid())));
  auto served = serve(door, options);
  if (is_own) ::unlink(path.c_str());
  return served;
}

int run_work(const settings::Environment& environment) {
  return work(environment, settings::machine_clock());
}

}  // namespace schedmate::reader
