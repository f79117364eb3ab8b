// SPDX-License-Identifier: Apache-2.0
/// GPU seconds are conserved over the whole cluster: what the jobs' accounts add up to is what
/// stood on the GPUs.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "tests/conformance/properties.hpp"
#include "tests/conformance/subjects.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate::conformance {
namespace {

using testing::near;

/// GPU seconds from what stands on each GPU between two decisions, and nothing else.
class Meter {
 public:
  void look(const SimOptions::Moment& moment) {
    Seen& seen = seen_[moment.vc];
    const double gone_s = FractionalSeconds(moment.now - seen.at).count();
    held_gpu_s += gone_s * seen.residents;
    busy_gpu_s += gone_s * seen.busy;
    seen = {.at = moment.now};
    for (std::uint32_t node = 0; node < moment.cluster.node_end(); ++node) {
      if (!moment.cluster.active(node)) continue;
      for (int gpu = 0; gpu < moment.cluster.gpus_per_node(); ++gpu) {
        const auto residents = static_cast<int>(moment.cluster.residents(node, gpu).size());
        seen.residents += residents;
        seen.busy += residents > 0 ? 1 : 0;
      }
    }
  }

  double held_gpu_s = 0;  ///< each job for itself
  double busy_gpu_s = 0;  ///< of GPUs with any job

 private:
  struct Seen {
    SimTime at{};
    int residents = 0;
    int busy = 0;
  };
  std::map<std::string, Seen> seen_;  // by VC
};

/// Starts and preempts by lot, packs and evicts where it may, so often; then runs what is left.
struct Restless {
  Random random;
  bool packs = true;
  int disturbances = 300;
  std::set<JobId> alive{};

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.ended) alive.erase(id);
    alive.insert(view.arrived.begin(), view.arrived.end());
    std::set<JobId> waiting;
    std::vector<JobId> hosts;  // run by themselves and stay
    for (const JobId id : alive) {
      const JobInfo& job = view.job(id);
      if (!job.running) {
        waiting.insert(id);
      } else if (disturbances > 0 && random.below(4) == 0) {
        --disturbances;
        packs&& random.below(2) == 0 ? plan.evict(id) : plan.preempt(id);
      } else if (packs && !job.sharing && !job.alone) {
        hosts.push_back(id);
      }
    }
    for (const JobId id : waiting) start(view, plan, id, hosts);
    if (!alive.empty()) plan.wake_at(view.now + Seconds(random.between(1, 200)));
  }

  void start(const View& view, Plan& plan, JobId id, std::vector<JobId>& hosts) {
    const JobInfo& job = view.job(id);
    const auto host = std::ranges::find_if(
        hosts, [&](JobId other) { return view.job(other).gpus == job.gpus && !job.alone; });
    if (host == hosts.end()) {
      plan.start(id, job.gpus);
    } else if (random.below(2) == 0) {
      plan.start_with(id, *host);
      hosts.erase(host);
    }
  }
};

World whole_seconds(std::uint64_t seed) {
  World world = random_world(seed);
  // Between two rounds nobody sees an end.
  for (PartitionSpec& vc : world.cluster.partitions) vc.round = Seconds(1);
  return world;
}

struct Totals {
  std::int64_t preemptions = 0, evictions = 0, failures = 0, packed = 0;
};

void check_conserved(const World& world, Prepared& prepared, Totals& totals) {
  Meter meter;
  Progress progress(world);
  prepared.options.observer = [&](const SimOptions::Moment& moment) {
    meter.look(moment);
    progress.look(moment);
  };
  const SimResult result = replay(world, prepared);
  double held_gpu_s = 0;
  for (const JobOutcome& job : result.outcomes) {
    held_gpu_s += job.held_gpu_s;
    totals.preemptions += job.preemptions;
    totals.evictions += job.evictions;
    totals.failures += job.failures;
    totals.packed += job.packed_at != SimTime() ? 1 : 0;
  }
  REQUIRE(held_gpu_s == meter.held_gpu_s);
  double busy_gpu_s = 0;
  for (const TimelineBin& bin : result.timeline.bins)
    busy_gpu_s += bin.busy_gpus * FractionalSeconds(result.timeline.step).count();
  REQUIRE(near(busy_gpu_s, meter.busy_gpu_s, 1e-9, 0));
  REQUIRE(meter.busy_gpu_s <= meter.held_gpu_s);
  const Replay done{world, prepared.scheduler, prepared.options, result};
  for (const std::string& complaint : check_jobs(done, {})) FAIL(complaint);
  for (const std::string& complaint : check_progress(done, progress)) FAIL(complaint);
}

TEST_CASE("what the jobs held is what stood on the GPUs, under every policy, with failures") {
  Totals totals;
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < testing::cases(90); ++seed) {
      CAPTURE(subject.row.name);
      CAPTURE(seed);
      const World world = whole_seconds(seed);
      Prepared prepared = prepare(subject, world, seed, Defects());
      prepared.options.costs.failures = frequent_failures();
      check_conserved(world, prepared, totals);
    }
  }
  CHECK(totals.preemptions > 100);
  CHECK(totals.failures > 1000);
  CHECK(totals.packed > 100);
}

TEST_CASE("what the jobs held is what stood on the GPUs when jobs fail, share, yield and restart") {
  Totals totals;
  for (std::uint64_t seed = 0; seed < testing::cases(300); ++seed) {
    CAPTURE(seed);
    const World world = whole_seconds(seed);
    Prepared prepared{.scheduler = {}, .options = {}};
    const bool packs = seed % 3 != 0;
    prepared.scheduler.decide = Restless{.random = Random(mix(seed)), .packs = packs};
    prepared.scheduler.packs = packs;
    prepared.scheduler.handler = seed % 2 == 0;
    prepared.options.costs.failures = frequent_failures();
    prepared.options.seed = seed;
    check_conserved(world, prepared, totals);
  }
  constexpr auto many = static_cast<std::int64_t>(testing::cases(1000));
  CHECK(totals.preemptions > many);
  CHECK(totals.evictions > many);
  CHECK(totals.failures > many);
  CHECK(totals.packed > many / 2);
}

}  // namespace
}  // namespace schedmate::conformance
