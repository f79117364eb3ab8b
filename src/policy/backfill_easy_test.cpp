// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "tests/support/effort.hpp"

namespace schedmate::policy {
namespace {

struct Row {
  std::int64_t submit_s;
  int gpus;
  std::int64_t duration_s;
  double estimate_s;
};

struct EasyScenario {
  Trace trace;
  std::vector<double> estimates_s;
  ClusterSpec cluster;
  SimOptions options;
};

EasyScenario scenario(const std::vector<Row>& rows, const PartitionSpec& vc) {
  EasyScenario made;
  for (const Row& row : rows) {
    Job job;
    job.gpus = row.gpus;
    job.submit = at(row.submit_s);
    job.duration = Seconds(row.duration_s);
    made.trace.jobs.push_back(job);
    made.estimates_s.push_back(row.estimate_s);
  }
  made.trace.vcs = {vc.name};
  made.trace.users = {""};
  made.cluster.partitions = {vc};
  return made;
}

PartitionSpec vc(int nodes, int gpus_per_node) {
  return {.name = "vc", .nodes = nodes, .gpus_per_node = gpus_per_node, .gpu_type = ""};
}

SimResult run(const EasyScenario& given, const Policy& policy) {
  Scheduler scheduler;
  scheduler.decide = policy;
  SimOptions options = given.options;
  options.estimator = [&](const EnteringJob& at) {
    return Prediction{FractionalSeconds(given.estimates_s[at.job.number])};
  };
  return simulate(given.trace, given.cluster, scheduler, options).value();
}

Policy backfill_easy(const EasyScenario& given) {
  return make_scheduler("backfill_easy", {given.cluster}, {})->decide;
}

std::vector<std::int64_t> starts(const EasyScenario& given) {
  std::vector<std::int64_t> result;
  for (const JobOutcome& outcome : run(given, backfill_easy(given)).outcomes) {
    REQUIRE(outcome.status == JobStatus::finished);
    result.push_back(seconds_of(outcome.start));
  }
  return result;
}

struct Running {
  JobId job;
  SimTime end;  // predicted
};

Running started(const View& view, JobId id) {
  const double estimate_s = std::ceil(view.job(id).estimate.count());
  return {id, view.now + Seconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(estimate_s)))};
}

/// When the gang could be placed if the jobs ended one by one, as predicted.
SimTime earliest(Cluster cluster, std::vector<Running> running, int gpus) {
  std::ranges::sort(running, {}, &Running::end);
  for (const Running& job : running) {
    cluster.release(job.job);
    if (cluster.fits(gpus)) return job.end;
  }
  return never;
}

/// The rule as one reads it: one pass over the queue in order, with the reservation before and
/// after every start.
class PlainEasy {
 public:
  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.ended) std::erase_if(running_, [&](auto& r) { return r.job == id; });
    for (Running& job : running_) {
      if (job.end <= view.now) job.end = view.now + (view.now - view.job(job.job).run_since);
    }
    waiting_.insert(waiting_.end(), view.arrived.begin(), view.arrived.end());
    std::optional<JobId> head;
    std::erase_if(waiting_, [&](JobId id) {
      const bool allowed = !head || !moves_back(view, *head, id);
      if (allowed && plan.start(id, view.job(id).gpus)) {
        running_.push_back(started(view, id));
        return true;
      }
      if (!head) head = id;
      return false;
    });
    for (const Running& job : running_) {
      if (head) plan.wake_at(job.end);
    }
  }

 private:
  [[nodiscard]] bool moves_back(const View& view, JobId head, JobId id) const {
    Placement where;
    if (!view.cluster.find(view.job(id).gpus, where)) return true;
    Cluster trial = view.cluster;
    trial.claim(id, where);
    std::vector<Running> running = running_;
    running.push_back(started(view, id));
    const int gang = view.job(head).gpus;
    return earliest(trial, running, gang) > earliest(view.cluster, running_, gang);
  }

  std::vector<JobId> waiting_;
  std::vector<Running> running_;
};

/// Looks over a policy's shoulder: the head's reservation may come nearer, never go away.
class EasyWitness {
 public:
  explicit EasyWitness(Policy policy) : policy_(std::move(policy)) {}

  void operator()(const View& view, Plan& plan) {
    policy_(view, plan);
    for (const JobId id : view.ended) std::erase_if(running_, [&](auto& r) { return r.job == id; });
    waiting_.insert(waiting_.end(), view.arrived.begin(), view.arrived.end());
    std::erase_if(waiting_, [&](JobId id) {
      if (view.cluster.allocation(id).empty()) return false;
      if (promised_.contains(id)) CHECK(view.now <= promised_[id]);
      running_.push_back(started(view, id));
      return true;
    });
    if (waiting_.empty()) return;
    const JobId head = waiting_.front();
    const SimTime when = earliest(view.cluster, running_, view.job(head).gpus);
    if (promised_.contains(head)) CHECK(when <= promised_[head]);
    promised_[head] = when;
  }

 private:
  Policy policy_;
  std::vector<JobId> waiting_;
  std::vector<Running> running_;
  std::map<JobId, SimTime> promised_;
};

constexpr std::array easy_placers{Placer::consolidate, Placer::first_fit, Placer::spread};

/// A crowded VC; `error` is how far estimates are off: 0 = right, 2 = up to a third or three times.
EasyScenario random_scenario(std::uint64_t seed, double error) {
  Random random(mix(seed));
  const auto nodes = static_cast<int>(random.between(1, 6));
  const int per_node = std::array{1, 2, 4, 8, 3, 64}[static_cast<std::size_t>(random.below(6))];
  const std::int64_t longest_s = random.between(2, 300);
  std::vector<Row> rows;
  std::int64_t now_s = 0;
  for (int i = 0; i < 60; ++i) {
    now_s += random.below(4) == 0 ? 0 : random.below(longest_s / 2);
    const std::int64_t most =
        random.below(3) == 0 ? nodes * per_node : std::min(nodes * per_node, per_node);
    const std::int64_t duration_s = random.below(longest_s);
    const double factor = 1 + error * random.uniform();
    const auto duration = static_cast<double>(duration_s);
    rows.push_back({now_s, static_cast<int>(random.between(1, most)), duration_s,
                    random.below(2) == 0 ? duration * factor : duration / factor});
  }
  EasyScenario made = scenario(rows, vc(nodes, per_node));
  made.options.placer = easy_placers[static_cast<std::size_t>(random.below(3))];
  if (random.below(4) == 0) made.cluster.partitions[0].round = Seconds(60);
  return made;
}

// One node of 4 GPUs. j0 holds 3 until 100, so j1 (4 GPUs) is reserved for 100. j2 (1 GPU) is over
// by 100 and starts; j3 (1 GPU, 50 s) finds no GPU; when j2 ends at 40 it would last until 90.
TEST_CASE("a short job slips in before the head of the queue when it is over in time") {
  CHECK(starts(scenario({{0, 3, 100, 100}, {1, 4, 10, 10}, {2, 1, 38, 38}, {3, 1, 50, 50}},
                        vc(1, 4))) == std::vector<std::int64_t>{0, 100, 2, 40});
}

// As above, but j2 would be over one second after the reservation of 100.
TEST_CASE("a job that would hold up the head by one second waits") {
  CHECK(starts(scenario({{0, 3, 100, 100}, {1, 4, 10, 10}, {2, 1, 99, 99}}, vc(1, 4))) ==
        std::vector<std::int64_t>{0, 100, 110});
}

// j1 needs 3 GPUs at 100, when all 4 are free: the fourth may be used for as long as one likes.
TEST_CASE("a long job may use the GPUs that the head leaves over") {
  CHECK(starts(scenario({{0, 3, 100, 100}, {1, 3, 10, 10}, {2, 1, 999, 999}}, vc(1, 4))) ==
        std::vector<std::int64_t>{0, 100, 2});
}

// Two nodes of 4. j0 holds 3 GPUs of node 0 until 100, j1 2 of node 1 until 300: j2 (4 GPUs) is
// reserved for node 0 at 100. j3 (1 GPU, long) would be placed best on node 0. That leaves 3 there
// at 100, though 5 in all; when j2 has node 0, j3 may go to node 1.
TEST_CASE("the reservation counts nodes where the placer keeps gangs together") {
  EasyScenario given =
      scenario({{0, 3, 100, 100}, {0, 2, 300, 300}, {1, 4, 10, 10}, {2, 1, 500, 500}}, vc(2, 4));
  CHECK(starts(given) == std::vector<std::int64_t>{0, 0, 100, 100});
  given.options.placer = Placer::first_fit;
  CHECK(starts(given) == std::vector<std::int64_t>{0, 0, 100, 2});
}

// Three nodes of 4, j0 to j2 hold them until 10, 20, 30. j3 needs two whole nodes and 2 GPUs of a
// third: 30. j4 (1 GPU) goes on beside it; a second one would leave too little of the last node.
TEST_CASE("a gang on several nodes waits for whole nodes and one for its remainder") {
  CHECK(starts(scenario({{0, 4, 10, 10},
                         {0, 4, 20, 20},
                         {0, 4, 30, 30},
                         {1, 10, 5, 5},
                         {2, 1, 90, 90},
                         {3, 2, 90, 90}},
                        vc(3, 4))) == std::vector<std::int64_t>{0, 0, 0, 30, 10, 35});
}

// j0 says 10 s and takes 100: at 10 it is expected to end at 20, at 20 at 40, then 80, then 160.
// The head (all 4) waits for it. j2 (1 GPU, 70 s) may start once the reservation is 70 s away: at
// 80, when it becomes 160.
TEST_CASE("a job that outlives its prediction is expected to run as long again, not killed") {
  CHECK(starts(scenario({{0, 3, 100, 10}, {1, 4, 5, 5}, {2, 1, 70, 70}}, vc(1, 4))) ==
        std::vector<std::int64_t>{0, 150, 80});
}

TEST_CASE("estimates that are no numbers, negative or absurd count as a second or as very long") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(starts(scenario({{0, 3, 100, 1e300}, {1, 4, 5, nan}, {2, 1, 7, -3}}, vc(1, 4))) ==
        std::vector<std::int64_t>{0, 100, 2});
}

TEST_CASE("the schedule is that of one plain pass over the queue") {
  int backfilled = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(2000); ++seed) {
    const EasyScenario given = random_scenario(seed, seed % 3 == 0 ? 0 : 2);
    const SimResult fast = run(given, backfill_easy(given));
    const SimResult plain = run(given, PlainEasy());
    SimTime latest;
    for (std::size_t row = 0; row < fast.outcomes.size(); ++row) {
      INFO("seed ", seed, " row ", row);
      const JobOutcome& outcome = fast.outcomes[row];
      REQUIRE(outcome.status == plain.outcomes[row].status);
      REQUIRE(seconds_of(outcome.start) == seconds_of(plain.outcomes[row].start));
      REQUIRE(outcome.nodes == plain.outcomes[row].nodes);
      backfilled += outcome.start < latest ? 1 : 0;
      latest = std::max(latest, outcome.start);
    }
  }
  CHECK(std::cmp_greater(backfilled, testing::cases(8000)));
}

TEST_CASE("with right predictions no head starts later than it was first promised") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    INFO("seed ", seed);
    EasyScenario given = random_scenario(seed, 0);
    given.cluster.partitions[0].round = Seconds(1);
    for (const JobOutcome& outcome : run(given, EasyWitness(backfill_easy(given))).outcomes) {
      REQUIRE(outcome.status == JobStatus::finished);
    }
  }
}

TEST_CASE("its default estimate is the user's limit") {
  const EasyScenario given = scenario({{0, 1, 1, 1}}, vc(1, 1));
  CHECK(make_scheduler("backfill_easy", {given.cluster}, {})->estimator == "limit");
}

}  // namespace
}  // namespace schedmate::policy
