// SPDX-License-Identifier: Apache-2.0
#include "daemon/cluster.hpp"

#include <fmt/format.h>

#include <utility>

#include "replay/remote.hpp"
#include "slurm_live/cluster.hpp"

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

Result<Cluster> reach_slurm(const Configuration& configuration, const Clock& clock,
                            const std::string& user) {
  const settings::Session& session = configuration.session;
  auto slurm = std::make_unique<slurm_live::CommandLine>(
      slurm_live::Tools(session.environment, clock, configuration.slurm->conf), user);
  auto abilities = slurm->abilities(call_deadline);
  if (!abilities)
    return fail(abilities.error().code,
                "there is no Slurm here that answers: " + abilities.error().message);
  auto host = read_policy("cluster.connector", slurm->site().policy, {});
  if (!host) return tl::unexpected(host.error());
  Cluster made{.now = clock.wall()};
  made.abilities = std::move(*abilities);
  made.wall = clock.wall;
  made.remember = [known = slurm.get()](const SeenJob& job) {
    known->know(job.id, job.submitted, job.restarts);
  };
  made.host = std::move(*host);
  made.span = slurm->site().weights / 10;
  made.connector = std::move(slurm);
  return made;
}

}  // namespace

Result<Cluster> reach_cluster(const Configuration& configuration, const Clock& clock,
                              const std::string& user) {
  return configuration.replay != nullptr ? reach_replay(configuration)
                                         : reach_slurm(configuration, clock, user);
}

}  // namespace schedmate::daemon
