// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/scenario.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <schedmate/estimator.hpp>
#include <schedmate/scheduler.hpp>
#include <utility>

namespace schedmate::storm {
namespace {

Mode random_mode(Random& random) {
  constexpr std::array modes = {Mode::act,     Mode::act,    Mode::act,    Mode::act,
                                Mode::approve, Mode::shadow, Mode::observe};
  return modes.at(static_cast<std::size_t>(random.below(modes.size())));
}

live::VirtualCluster::Setup pool_of(const Scenario& scenario, const std::string& name) {
  const int nodes = scenario.cluster.nodes / scenario.cluster.partitions;
  PartitionSpec partition;
  partition.name = name;
  partition.nodes = nodes;
  partition.gpus_per_node = scenario.cluster.gpus;
  const ClusterSpec spec{{partition}};
  live::VirtualCluster::Setup setup;
  setup.name = name;
  PolicyOptions options;
  if (scenario.policy == "lucid") options.add_defaults("profiler=false");
  if (auto scheduler = make_scheduler(scenario.policy, {spec}, options)) {
    setup.policy = scheduler->decide;
    setup.packs = scheduler->packs;
  }
  return setup;
}

/// Of three jobs in four, by id.
const Profile* profile_of(const SeenJob& job) {
  static const std::array<Profile, 3> profiles = [] {
    constexpr std::array<double, 3> busy = {20, 40, 90};
    std::array<Profile, 3> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made.at(i).gpu_util_pct = busy.at(i);
      made.at(i).memory_mib = 100 * busy.at(i);
      made.at(i).sharing_score = static_cast<int>(i);
    }
    return made;
  }();
  constexpr std::size_t kinds = profiles.size() + 1;
  const std::size_t kind = std::hash<std::string>()(job.id) % kinds;
  return kind < profiles.size() ? &profiles.at(kind) : nullptr;
}

}  // namespace

live::Modes random_modes(Random& random) {
  constexpr double together = 0.4;
  const Mode one = random_mode(random);
  if (random.uniform() < together) return {one, one, one, one, one};
  live::Modes modes;
  for (Mode* const mode :
       {&modes.order, &modes.recover, &modes.pack, &modes.annotate, &modes.notify})
    *mode = random_mode(random);
  return modes;
}

Scenario scenario_of(const Dice& dice) {
  Random random = dice.stream("world");
  Scenario made;
  made.cluster = {.nodes = static_cast<int>(random.between(4, random.below(3) == 0 ? 30 : 8)),
                  .partitions = static_cast<int>(random.between(1, 3)),
                  .gpus = static_cast<int>(random.between(2, 8)),
                  .starts_jobs = random.uniform() < 0.6,
                  .tokens_unique = random.below(2) == 0,
                  .remembers = Seconds(random.between(400, 1200))};
  if (dice.on(Fault::short_memory)) made.cluster.remembers = Seconds(random.between(60, 400));
  constexpr std::array<std::string_view, 4> policies = {"fifo", "sjf", "schedmate",
                                                        "backfill_easy"};
  const bool pools = !made.cluster.starts_jobs || random.uniform() < 0.3;
  if (pools) made.policy = policies.at(static_cast<std::size_t>(random.below(policies.size())));
  Random packing = dice.stream("packing");
  if (pools && packing.below(3) == 0) {
    made.policy = "lucid";
    made.options.profile = profile_of;
  }
  Random compaction = dice.stream("compaction");
  constexpr std::int64_t least = 80'000, most = 400'000;
  if (compaction.below(2) == 0) made.most_bytes = compaction.between(least, most);
  live::Settings& settings = made.options.settings;
  settings.instance = "storm";
  settings.modes = random_modes(random);
  settings.caps = {.drained_nodes_max = random.between(1, 3),
                   .drained_pct_max = random.between(5, 50),
                   .requeues_per_job = random.between(0, 2),
                   .actions_per_hour = random.between(3, 30),
                   .breaker_pct = random.between(3, 20),
                   .burst = random.between(5, 60)};
  settings.waits = {.approval = Seconds(random.between(60, 600)),
                    .outcome = Seconds(random.between(30, 60)),
                    .hold = Seconds(random.between(60, 600)),
                    .witness_age = Seconds(random.between(60, 600)),
                    .breaker_quiet = Seconds(random.between(120, 600))};
  settings.waits.test = Seconds(dice.stream("testing").between(60, 240));
  Random logs = dice.stream("log looks");
  if (logs.below(2) == 0) settings.waits.hung_restart = Seconds(logs.between(1, 100));
  made.options.lives.follow = Seconds(logs.between(2, 12));
  made.options.poll = Seconds(random.between(2, 20));
  made.options.lives.queue = {
      .most_out = 2, .given_up = Seconds(logs.between(60, 300)), .again = Seconds(10), .tries = 4};
  made.until = Seconds(random.between(600, 2700));
  made.undo_all = random.below(2) == 0;
  // Where the cluster starts jobs itself, SchedMate may order them.
  if (made.cluster.starts_jobs && !pools && dice.stream("ordering").below(2) == 0)
    if (auto estimator = make_estimator("last_k", {}))
      made.options.ordering = live::Ordering::Setup{
          .work = [](const JobInfo& job) { return job.estimate.count() * job.gpus; },
          .estimator = std::move(*estimator)};
  if (pools) made.options.pool = [made](const std::string& name) { return pool_of(made, name); };
  return made;
}

std::string text_of(const Scenario& scenario) {
  const live::Settings& settings = scenario.options.settings;
  const live::Modes& modes = settings.modes;
  return fmt::format(
      "{} nodes of {} GPUs, {} partitions, {}, {}; modes order {}, recover {}, pack {}, annotate "
      "{}, notify {}; caps: {} nodes, {} %, {} requeues, {} an hour; reads every {} s, {}faults "
      "stop at {} s",
      scenario.cluster.nodes, scenario.cluster.gpus, scenario.cluster.partitions,
      scenario.cluster.starts_jobs ? "the host starts jobs" : "only SchedMate starts jobs",
      scenario.policy.empty() ? scenario.options.ordering ? "orders" : "no pools"
                              : "policy " + scenario.policy,
      name_of(modes.order), name_of(modes.recover), name_of(modes.pack), name_of(modes.annotate),
      name_of(modes.notify), settings.caps.drained_nodes_max, settings.caps.drained_pct_max,
      settings.caps.requeues_per_job, settings.caps.actions_per_hour, scenario.options.poll.count(),
      scenario.most_bytes == 0 ? "" : fmt::format("compacts above {} B, ", scenario.most_bytes),
      scenario.until.count());
}

}  // namespace schedmate::storm
