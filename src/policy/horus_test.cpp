// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <string>

#include "base/random.hpp"

namespace schedmate::policy {
namespace {

using Settings = std::map<std::string, std::string, std::less<>>;

/// GPU utilisation in per cent and memory in MiB of profiles 0, 1, ...
std::shared_ptr<const PackingTables> profiles(const std::vector<std::pair<double, double>>& rows) {
  PackingTables tables;
  for (const auto& [util_pct, memory_mib] : rows) {
    Profile profile;
    profile.gpu_util_pct = util_pct;
    profile.memory_mib = memory_mib;
    tables.profiles.push_back(profile);
  }
  for (std::size_t i = 0; i < rows.size() * rows.size(); ++i) {
    tables.pairs.push_back({0.5 + 0.05 * static_cast<double>(i % 10), 0.8});
  }
  return std::make_shared<const PackingTables>(std::move(tables));
}

Job job(std::int64_t submit_s, int gpus, std::int64_t duration_s, std::uint32_t profile) {
  Job made;
  made.submit = at(submit_s);
  made.gpus = gpus;
  made.duration = Seconds(duration_s);
  made.profile = profile;
  return made;
}

struct HorusScenario {
  Trace trace;
  ClusterSpec cluster;
  Settings settings;
  std::uint64_t seed = 1;
};

HorusScenario scenario(std::shared_ptr<const PackingTables> tables, std::vector<Job> jobs,
                       std::pair<int, int> nodes_and_gpus) {
  HorusScenario made;
  made.trace.packing = std::move(tables);
  made.trace.jobs = std::move(jobs);
  made.trace.vcs = {"vc"};
  made.trace.users = {""};
  PartitionSpec vc;
  vc.name = "vc";
  vc.nodes = nodes_and_gpus.first;
  vc.gpus_per_node = nodes_and_gpus.second;
  made.cluster.partitions = {vc};
  return made;
}

Policy horus(const HorusScenario& given) {
  const PolicyInput input{given.cluster, {}, given.seed};
  return make_scheduler("horus", input, PolicyOptions(given.settings)).value().decide;
}

std::vector<JobOutcome> run(const HorusScenario& given, const Policy& policy) {
  Scheduler scheduler;
  scheduler.decide = policy;
  return simulate(given.trace, given.cluster, scheduler, {}).value().outcomes;
}

std::vector<std::int64_t> starts(const HorusScenario& given) {
  std::vector<std::int64_t> result;
  for (const JobOutcome& outcome : run(given, horus(given))) {
    REQUIRE(outcome.status == JobStatus::finished);
    result.push_back(seconds_of(outcome.start));
  }
  return result;
}

HorusScenario random_scenario(std::uint64_t seed) {
  Random random(mix(seed));
  const auto tables = profiles({{10, 800}, {30, 6000}, {45, 11'000}, {60, 3000}, {95, 20'000}});
  const auto nodes = static_cast<int>(random.between(1, 5));
  const int per_node = random.below(2) == 0 ? 8 : 3;
  std::vector<Job> jobs;
  std::int64_t now_s = 0;
  for (int i = 0; i < 80; ++i) {
    now_s += random.below(120);
    const auto gpus = static_cast<int>(random.between(1, random.below(3) == 0 ? 3 * nodes : 3));
    const auto profile = static_cast<std::uint32_t>(random.below(6));
    jobs.push_back(job(now_s, gpus, random.below(4000), profile == 5 ? no_index : profile));
  }
  HorusScenario made = scenario(tables, std::move(jobs), {nodes, per_node});
  made.seed = seed;
  return made;
}

/// Checks every plan against the rules, with a queue of its own.
struct HorusWitness {
  Policy policy;
  std::vector<JobId> waiting;
  int shared = 0;  // most jobs seen on one GPU

  void operator()(const View& view, Plan& plan) {
    policy(view, plan);
    waiting.insert(waiting.end(), view.arrived.begin(), view.arrived.end());
    std::ranges::stable_sort(waiting, {}, [&](JobId id) {
      const Profile* profile = view.job(id).profile;
      return profile == nullptr ? 100 : profile->gpu_util_pct;
    });
    CHECK(plan.decisions().size() <= 1);
    if (plan.decisions().empty()) return;
    CHECK(seconds_of(view.now) % 60 == 0);
    const JobId id = plan.decisions().front().job;
    const auto place = std::ranges::find(waiting, id);
    CHECK(place - waiting.begin() < 5);
    waiting.erase(place);
    check_gpus(view, id);
  }

  void check_gpus(const View& view, JobId id) {
    int gpus = 0;
    for (const Slice& slice : view.cluster.allocation(id)) {
      gpus += std::popcount(slice.gpus);
      for (int gpu = 0; gpu < view.cluster.gpus_per_node(); ++gpu) {
        const auto residents = view.cluster.residents(slice.node, gpu);
        shared = std::max(shared, static_cast<int>(residents.size()));
        if (residents.size() < 2) continue;
        double used_mib = 0;
        for (const JobId resident : residents) {
          REQUIRE(view.job(resident).profile != nullptr);
          used_mib += view.job(resident).profile->memory_mib;
        }
        CHECK(used_mib < 24'576 - 500);
      }
    }
    CHECK(gpus == view.job(id).gpus);
  }
};

TEST_CASE("at most three jobs share a GPU, within its memory, and one of the first five starts") {
  int shared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed ", seed);
    const HorusScenario given = random_scenario(seed);
    const auto witness = std::make_shared<HorusWitness>(HorusWitness{horus(given), {}});
    const auto outcomes =
        run(given, [witness](const View& view, Plan& plan) { (*witness)(view, plan); });
    for (const JobOutcome& outcome : outcomes) CHECK(outcome.status == JobStatus::finished);
    shared = std::max(shared, witness->shared);
  }
  CHECK(shared == 3);
}

TEST_CASE("the seed decides, and nothing else") {
  int differing = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    HorusScenario given = random_scenario(seed);
    const auto once = run(given, horus(given));
    const auto again = run(given, horus(given));
    given.seed += 1000;
    const auto other = run(given, horus(given));
    bool differs = false;
    for (std::size_t i = 0; i < once.size(); ++i) {
      CHECK(once[i].nodes == again[i].nodes);
      CHECK(once[i].start == again[i].start);
      differs = differs || once[i].nodes != other[i].nodes || once[i].start != other[i].start;
    }
    differing += differs ? 1 : 0;
  }
  CHECK(differing > 0);
}

TEST_CASE("one job starts at each full minute, the least busy one first") {
  const auto tables = profiles({{20, 100}, {80, 100}, {50, 100}});
  CHECK(starts(scenario(tables, {job(1, 1, 500, 1), job(2, 1, 500, 2), job(3, 1, 500, 0)},
                        {1, 4})) == std::vector<std::int64_t>{180, 120, 60});
}

// Five gangs of 4 wait that do not fit beside j0; the single job behind them would, but is sixth.
TEST_CASE("the sixth in line is not looked at") {
  const auto tables = profiles({{10, 20'000}, {20, 10'000}, {30, 100}});
  std::vector<Job> jobs{job(0, 4, 600, 0)};
  for (int i = 0; i < 5; ++i) jobs.push_back(job(1, 4, 60, 1));
  jobs.push_back(job(1, 1, 60, 2));
  HorusScenario given = scenario(tables, jobs, {1, 4});
  CHECK(starts(given).back() > 600);
  given.settings = {{"tries", "6"}};
  CHECK(starts(given).back() == 60);
}

// 10,000 + 13,000 MiB leave more than 500 of 24,576 free, 10,000 + 14,100 do not.
TEST_CASE("a GPU keeps 500 MiB free") {
  const auto tables = profiles({{20, 10'000}, {50, 13'000}, {50, 14'100}});
  CHECK(starts(scenario(tables, {job(0, 1, 600, 0), job(1, 1, 60, 1)}, {1, 1}))[1] == 60);
  HorusScenario full = scenario(tables, {job(0, 1, 600, 0), job(1, 1, 60, 2)}, {1, 1});
  CHECK(starts(full)[1] == 600);
  full.settings = {{"memory_mib", "40960"}};
  CHECK(starts(full)[1] == 60);
}

TEST_CASE("a job without a profile has its GPU to itself") {
  const auto tables = profiles({{20, 100}});
  CHECK(starts(scenario(tables, {job(0, 1, 600, no_index), job(1, 1, 60, 0)}, {1, 1})) ==
        std::vector<std::int64_t>{0, 600});
  CHECK(starts(scenario(tables, {job(0, 1, 600, 0), job(1, 1, 60, no_index)}, {1, 1})) ==
        std::vector<std::int64_t>{0, 600});
}

// At 180 node 0 has j2 on GPU 0 (j0 has left), node 1 has j1 on GPU 0. The two idle GPUs are the
// cheapest, but on two nodes: j3 takes both GPUs of node 0 and shares one with j2.
TEST_CASE("a gang shares a GPU rather than spread over more nodes") {
  const auto tables = profiles({{20, 100}, {30, 100}});
  const HorusScenario given = scenario(
      tables, {job(0, 2, 100, 0), job(1, 1, 6000, 0), job(61, 1, 6000, 0), job(121, 2, 60, 1)},
      {2, 2});
  const auto outcomes = run(given, horus(given));
  CHECK(outcomes[1].nodes == Placement{{1, 1}});
  CHECK(outcomes[2].nodes == Placement{{0, 1}});
  CHECK(outcomes[3].nodes == Placement{{0, 3}});
  CHECK(outcomes[3].packed_at == at(180));
}

// With peak=1 nothing is left to chance. A newcomer of 50 % costs on GPU 0, beside one of 90 %,
// 1.3 x 200 / 10,000 + 1.6 x 40 / 100 + 1 = 1.67, on GPU 1, beside one of 40 %, 0.03 + 0.1 + 1.
TEST_CASE("on a node the cheapest GPU is taken, not the first that fits") {
  const auto tables = profiles({{40, 100}, {50, 100}, {90, 100}});
  HorusScenario given =
      scenario(tables, {job(0, 1, 6000, 2), job(60, 1, 6000, 0), job(120, 1, 60, 1)}, {1, 2});
  given.settings = {{"peak", "1"}, {"memory_mib", "10000"}};
  const auto outcomes = run(given, horus(given));
  CHECK(outcomes[0].nodes == Placement{{0, 1}});
  CHECK(outcomes[1].nodes == Placement{{0, 2}});
  CHECK(outcomes[2].nodes == Placement{{0, 2}});
}

TEST_CASE("settings out of range are refused") {
  const HorusScenario given = scenario(profiles({{20, 100}}), {job(0, 1, 1, 0)}, {1, 1});
  for (const Settings& wrong : {Settings{{"tries", "0"}},
                                {{"tasks", "5"}},
                                {{"tick_s", "0"}},
                                {{"memory_mib", "nan"}},
                                {{"peak", "0.9"}},
                                {{"peak", "x"}}}) {
    const auto made = make_scheduler("horus", {given.cluster}, PolicyOptions(wrong));
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().message.find(wrong.begin()->first) != std::string::npos);
  }
}

}  // namespace
}  // namespace schedmate::policy
