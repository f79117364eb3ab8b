// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/hmac.hpp"
#include "base/own_files.hpp"
#include "ray_live/cluster.hpp"
#include "replay/remote.hpp"
#include "settings/data_files.hpp"
#include "slurm_live/cluster.hpp"
#include "slurm_live/scripts.hpp"
#include "slurm_live/steps.hpp"

namespace schedmate::daemon {
namespace {

Result<Cluster> reach_replay(const Configuration& configuration) {
  auto replay = std::make_unique<replay::RemoteCluster>(configuration.state_dir + "/replay.sock");
  const auto advance = [asked = replay.get()](SimTime to) -> Result<ClusterTime> {
    const auto time = asked->advance(to, call_deadline);
    if (!time) return tl::unexpected(time.error());
    return ClusterTime{time->now, time->next};
  };
  const auto time = advance(at(0));
  if (!time)
    return fail(time.error().code,
                fmt::format("{}: there is no cluster; schedmated --replay with the same settings "
                            "is one",
                            time.error().message));
  auto abilities = replay->abilities(call_deadline);
  if (!abilities) return tl::unexpected(abilities.error());
  Cluster made{.connector = std::move(replay),
               .abilities = std::move(*abilities),
               .now = time->now,
               .host = configuration.replay->host};
  if (configuration.replay->speed == 0) made.advance = advance;
  return made;
}

/// By Slurm's library where that is there and fits, else by the command line.
Result<void> choose_reader(const Configuration& configuration, const Clock& clock,
                           slurm_live::CommandLine& slurm, Cluster& made) {
  const std::string& via = configuration.slurm.via;
  if (via == "cli") return {};
  const bool is_needed = via == "libslurm";
  const std::string module = configuration.slurm.module.empty()
                                 ? settings::module_file("schedmate_slurm.so")
                                 : configuration.slurm.module;
  Result<void> loaded =
      fail(ErrorCode::unavailable,
           "there is no schedmate_slurm.so beside this program (it is built with libslurm-dev)");
  if (!module.empty()) {
    slurm_live::Tools tools(configuration.session.environment, clock, configuration.slurm.conf);
    loaded = slurm.read_by(std::make_unique<slurm_live::Library>(
                               slurm_live::Library::Options{module}, std::move(tools)),
                           !is_needed, call_deadline);
  }
  if (!loaded && is_needed)
    return fail(loaded.error().code, "setting cluster.slurm.via: " + loaded.error().message);
  const std::string why = loaded ? "" : loaded.error().message;
  made.notes.push_back(loaded ? "Slurm is read by its library (" + module + ")"
                              : "Slurm is read by its command line: " + why);
  if (!loaded && !module.empty()) made.lacks.push_back(made.notes.back());
  return {};
}

Result<Cluster> reach_slurm(const Configuration& configuration, const Clock& clock,
                            const std::string& user) {
  const settings::Session& session = configuration.session;
  auto slurm = std::make_unique<slurm_live::CommandLine>(
      slurm_live::Tools(session.environment, clock, configuration.slurm.conf), user,
      configuration.slurm.node_care);
  auto abilities = slurm->abilities(call_deadline);
  if (!abilities)
    return fail(abilities.error().code,
                "there is no Slurm here that answers: " + abilities.error().message);
  auto host = read_policy("cluster.connector", slurm->site().policy, {});
  if (!host) return tl::unexpected(host.error());
  Cluster made{.now = clock.wall()};
  if (auto chosen = choose_reader(configuration, clock, *slurm, made); !chosen)
    return tl::unexpected(chosen.error());
  made.abilities = std::move(*abilities);
  made.wall = clock.wall;
  made.remember = [known = slurm.get()](const SeenJob& job) { known->know(job); };
  made.script = [scripts = std::make_shared<slurm_live::Scripts>(slurm_live::Tools(
                     session.environment, clock, configuration.slurm.conf))](const SeenJob& job) {
    return scripts->read(job, call_deadline);
  };
  if (slurm->site().has_accounting)
    made.steps = [steps = std::make_shared<slurm_live::Steps>(
                      slurm_live::Tools(session.environment, clock, configuration.slurm.conf))](
                     const SeenJob& job, const std::function<bool()>& others_wait) {
      return steps->read(job, steps_deadline, others_wait);
    };
  made.host = std::move(*host);
  made.truncates_logs = !slurm->site().appends_logs;
  made.ends_when_clear = true;
  made.span = slurm->site().weights / 10;
  made.half_life = slurm->site().half_life;
  made.connector = std::move(slurm);
  return made;
}

/// Its queue is this daemon's, in a file beside the journal.
Result<Cluster> reach_ray(const Configuration& configuration, const Clock& clock) {
  const Ray& ray = *configuration.ray;
  constexpr std::size_t enough = 8;
  auto ledger = ray_live::Ledger::open(configuration.state_dir + "/ray.sqlite",
                                       random_key().substr(0, enough));
  if (!ledger) return tl::unexpected(ledger.error());
  if (auto made = make_own_folder(ray.options.log_folder); !made)
    return fail(made.error().code, "setting cluster.ray.logs: " + made.error().message);
  auto made = std::make_unique<ray_live::RayCluster>(ray_live::Head(ray.address, ray.token, clock),
                                                     std::move(*ledger), ray.options);
  auto abilities = made->abilities(call_deadline);
  if (!abilities)
    return fail(abilities.error().code,
                "there is no head of Ray here that answers: " + abilities.error().message);
  return Cluster{.connector = std::move(made),
                 .abilities = std::move(*abilities),
                 .now = clock.wall(),
                 .wall = clock.wall};
}

}  // namespace

Result<Cluster> reach_cluster(const Configuration& configuration, const Clock& clock,
                              const std::string& user) {
  if (configuration.ray) return reach_ray(configuration, clock);
  return configuration.replay != nullptr ? reach_replay(configuration)
                                         : reach_slurm(configuration, clock, user);
}

}  // namespace schedmate::daemon
