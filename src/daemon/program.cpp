// SPDX-License-Identifier: Apache-2.0
#include "daemon/program.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/own_files.hpp"
#include "daemon/daemon.hpp"
#include "journal/audit.hpp"
#include "journal/journal.hpp"
#include "replay/cluster.hpp"
#include "replay/server.hpp"
#include "settings/clock.hpp"
#include "settings/identity.hpp"

namespace schedmate::daemon {
namespace {

/// sd_notify's READY=1; "" = nobody waits for it.
void tell_systemd(const std::string& socket_name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_name.empty() || socket_name.size() >= sizeof address.sun_path) return;
  std::ranges::copy(socket_name, static_cast<char*>(address.sun_path));
  if (socket_name.front() == '@') address.sun_path[0] = '\0';
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  constexpr std::string_view ready = "READY=1";
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_name.size());
  (void)::sendto(socket.number(), ready.data(), ready.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

Result<Configuration> read_configuration(const Program& program) {
  auto given = settings::read_pairs(program.pairs, "--set");
  if (!given) return tl::unexpected(given.error());
  settings::SettingsSources sources = program.sources;
  sources.given = std::move(*given);
  auto settings = settings::load_settings(sources, program.environment);
  if (!settings) return tl::unexpected(settings.error());
  return configure({program.environment, std::move(*settings), settings::machine_clock()});
}

/// A journal in the folder tells of an earlier run of the replay, whose jobs would be taken for
/// those of this one: refused (also while a daemon is at work on it).
Result<void> check_is_first_run(const Configuration& configuration) {
  const std::string path = journal::journal_path(configuration.state_dir);
  if (std::error_code unknown; !std::filesystem::exists(path, unknown)) return {};
  auto journal = journal::Journal::open({.path = path, .instance = configuration.writer},
                                        settings::machine_clock());
  if (!journal && journal.error().code == ErrorCode::refused)
    return fail(ErrorCode::refused,
                journal.error().message +
                    "; a replay that was ended does not come back, and one that begins anew needs "
                    "another state_dir, or the folder removed when its daemon has ended");
  if (!journal) return tl::unexpected(journal.error());
  const auto kept = (*journal)->all_kept();
  const auto next = (*journal)->next_action();
  if (!kept || !next) return tl::unexpected(!kept ? kept.error() : next.error());
  if (kept->empty() && *next == 1) return {};
  return fail(ErrorCode::refused,
              path +
                  ": it tells of an earlier run of the replay; one that begins anew needs another "
                  "state_dir, or the folder removed");
}

Result<void> serve_replay(const Configuration& configuration, const Program& program) {
  if (configuration.replay == nullptr)
    return fail(ErrorCode::invalid, "setting cluster.connector: only a replay can be one here");
  if (auto made = make_own_folder(configuration.state_dir); !made)
    return tl::unexpected(made.error());
  if (auto checked = check_is_first_run(configuration); !checked) return checked;
  const Replay& replay = *configuration.replay;
  const Scheduler* const host = replay.host ? &*replay.host : nullptr;
  const ClusterSpec nodes = host != nullptr
                                ? replay.cluster
                                : replay::with_profiler(replay.cluster, configuration.scheduler);
  SimOptions sim;
  sim.estimator = replay.host_estimates;
  replay::ReplayCluster cluster(replay.trace, nodes, sim, host);
  cluster.set_bad_nodes(replay.bad_nodes);
  const replay::ServeOptions options{.socket = configuration.state_dir + "/replay.sock",
                                     .ledger = configuration.state_dir + "/replay.jsonl",
                                     .speed = replay.speed,
                                     .clock = settings::machine_clock(),
                                     .stopped = program.stopped};
  program.say(fmt::format("a replay of {} jobs on {}", replay.trace.jobs.size(), options.socket));
  return replay::serve(cluster, options);
}

Result<void> serve(const Configuration& configuration, const Program& program) {
  const auto ready = [&] {
    const http::ServerOptions& doors = configuration.http;
    const bool both = !doors.unix_path.empty() && !doors.tcp.empty();
    program.say(fmt::format("ready on {}{}{}", doors.unix_path, both ? ", " : "", doors.tcp));
    tell_systemd(program.environment.variable("NOTIFY_SOCKET"));
  };
  const auto reload = [&] { return read_configuration(program); };
  return run(configuration, {.clock = settings::machine_clock(),
                             .stopped = program.stopped,
                             .reload_asked = program.reload_asked,
                             .reload = reload,
                             .report = program.say,
                             .ready = ready,
                             .user_name = settings::name_of});
}

}  // namespace

Result<void> run_task(Task task, const Program& program) {
  auto configuration = read_configuration(program);
  if (!configuration) return tl::unexpected(configuration.error());
  configuration->ui_folder = program.ui_folder;
  if (task == Task::replay) return serve_replay(*configuration, program);
  if (task == Task::serve) return serve(*configuration, program);
  program.say("the settings are sound");
  return {};
}

}  // namespace schedmate::daemon
