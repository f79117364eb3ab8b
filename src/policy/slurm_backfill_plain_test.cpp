// SPDX-License-Identifier: Apache-2.0
/// slurm_backfill against a slow model of it: a table of nodes by slots, made again and searched
/// from one end to the other, priorities from the whole past.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/slot_table.hpp"

namespace schedmate::policy {
namespace {

using Nodes = testing::SlotTable::Nodes;
using Table = testing::SlotTable;

struct PlainSettings {
  std::int64_t interval_s = 30;
  std::int64_t window_min = 20;
  std::int64_t resolution_s = 60;
  std::int64_t max_test = 500;
  std::int64_t max_user = 0;
  std::int64_t age = 0, size = 0, fairshare = 0;
  bool small = false;
};

struct SlurmScenario {
  Trace trace;
  std::vector<double> estimates_s;
  ClusterSpec cluster;
  Placer placer = Placer::consolidate;
  PlainSettings settings;
};

constexpr std::int64_t calc_period_s = 60;
constexpr double one_day_s = 86'400;

Policy fast(const SlurmScenario& given) {
  const PlainSettings& s = given.settings;
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  PolicyOptions options({{"bf_interval", text(s.interval_s)},
                         {"bf_window", text(s.window_min)},
                         {"bf_resolution", text(s.resolution_s)},
                         {"bf_max_job_test", text(s.max_test)},
                         {"bf_max_job_user", text(s.max_user)},
                         {"weight_age", text(s.age)},
                         {"weight_job_size", text(s.size)},
                         {"weight_fairshare", text(s.fairshare)},
                         {"favor_small", s.small ? "true" : "false"},
                         {"max_age_d", "1"},
                         {"half_life_d", "1"},
                         {"calc_period_min", "1"}});
  return make_scheduler("slurm_backfill", {given.cluster}, options)->decide;
}

SimResult run(const SlurmScenario& given, const Policy& policy) {
  Scheduler scheduler;
  scheduler.decide = policy;
  SimOptions options;
  options.placer = given.placer;
  options.estimator = [&](const EnteringJob& at) {
    return Prediction{FractionalSeconds(given.estimates_s[at.job.number])};
  };
  return simulate(given.trace, given.cluster, scheduler, options).value();
}

std::int64_t up(SimTime when, std::int64_t step_s) {
  return seconds_of(round_up(when, Seconds(step_s))) / step_s;
}
std::int64_t down(SimTime when, std::int64_t step_s) {
  return up(when - Seconds(step_s - 1), step_s);
}

class PlainSlurm {
 public:
  PlainSlurm(const PlainSettings& settings, std::map<JobId, SimTime>& promised)
      : s_(settings), promised_(&promised) {}

  void operator()(const View& view, Plan& plan) {
    const bool reorders = s_.fairshare != 0 || (s_.age != 0 && s_.size != 0);
    const auto period = down(view.now, calc_period_s);
    if (reorders && period > period_) {
      changed_ = true;
      period_ = period;
      calculate(view, at(period * calc_period_s));
    }
    for (const JobId id : view.ended) runs_.at(id).end = view.now;
    for (const JobId id : view.arrived) {
      fairshare_.try_emplace(view.job(id).user, 1.0);
      waiting_.push_back(id);
      priority_[id] = priority(view, id, view.now);
    }
    changed_ = changed_ || !view.ended.empty() || !view.arrived.empty();
    for (auto& [id, run] : runs_) {
      if (run.end || run.until > view.now) continue;
      run.until = view.now + (view.now - view.job(id).run_since);
      changed_ = true;
    }
    std::ranges::sort(waiting_, {}, [&](JobId id) {
      return std::tuple(-std::int64_t{priority_[id]}, view.job(id).submit, id);
    });
    from_the_top(view, plan);
    if (waiting_.empty()) return;
    if (changed_ && view.now >= next_pass_) {
      pass(view, plan);
      changed_ = false;
      next_pass_ = view.now + Seconds(s_.interval_s);
    }
    if (changed_) plan.wake_at(next_pass_);
    if (reorders) plan.wake_at(at((period + 1) * calc_period_s));
    for (const auto& [id, run] : runs_) {
      if (!run.end) plan.wake_at(run.until);
    }
  }

 private:
  struct Run {
    std::uint32_t user;
    int gpus;
    Placement where;
    SimTime start, until;
    std::optional<SimTime> end;
  };

  void calculate(const View& view, SimTime when) {
    std::map<std::uint32_t, double> used;
    double all = 0;
    for (const auto& [id, run] : runs_) {
      const auto ago = [&](SimTime t) {
        return std::exp2(-static_cast<double>((when - t).count()) / one_day_s);
      };
      const double amount =
          run.gpus * one_day_s / std::numbers::ln2 *
          (ago(std::min(run.end.value_or(when), when)) - ago(std::min(run.start, when)));
      used[run.user] += amount;
      all += amount;
    }
    for (auto& [user, factor] : fairshare_) {
      factor = all > 0 ? std::exp2(-used[user] / all * static_cast<double>(fairshare_.size())) : 1;
    }
    for (const JobId id : waiting_) priority_[id] = priority(view, id, when);
  }

  std::uint32_t priority(const View& view, JobId id, SimTime when) {
    const JobInfo& job = view.job(id);
    const double per_node = view.cluster.gpus_per_node();
    const double share = (std::ceil(job.gpus / per_node) / view.cluster.node_count() +
                          static_cast<double>(job.gpus) / view.cluster.total_gpus()) /
                         2;
    const double waited_s = static_cast<double>((when - job.submit).count());
    const double age = std::clamp(waited_s / one_day_s, 0.0, 1.0);
    return static_cast<std::uint32_t>(
        std::max(1.0, static_cast<double>(s_.age) * age +
                          static_cast<double>(s_.size) * (s_.small ? 1 - share : share) +
                          static_cast<double>(s_.fairshare) * fairshare_.at(job.user)));
  }

  void start(const View& view, Plan& plan, JobId id, const std::optional<Nodes>& where) {
    const JobInfo& job = view.job(id);
    if (where && view.cluster.placer() == Placer::consolidate) {
      Placement placement;
      for (const auto& [node, gpus] : *where) {
        Slice slice{static_cast<std::uint32_t>(node), 0};
        for (int gpu = 0; std::popcount(slice.gpus) < gpus; ++gpu) {
          slice.gpus |= view.cluster.free_mask(slice.node) & (std::uint64_t{1} << gpu);
        }
        placement.push_back(slice);
      }
      plan.start_on(id, placement);
    } else {
      REQUIRE(plan.start(id, job.gpus));
    }
    runs_[id] = {
        job.user, job.gpus, view.cluster.allocation(id), view.now, view.now + length(view, id), {}};
    std::erase(waiting_, id);
    planned_.erase(id);
  }

  static Seconds length(const View& view, JobId id) {
    return Seconds(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(view.job(id).estimate.count()))));
  }

  void from_the_top(const View& view, Plan& plan) {
    while (!waiting_.empty() && view.cluster.fits(view.job(waiting_[0]).gpus)) {
      const JobId id = waiting_[0];
      std::optional<Nodes> where;
      if (planned_.contains(id)) {
        const bool open = std::ranges::all_of(planned_[id], [&](const auto& share) {
          const auto node = static_cast<std::uint32_t>(share.first);
          return std::popcount(view.cluster.free_mask(node)) >= share.second;
        });
        if (open) where = planned_[id];
      }
      start(view, plan, id, where);
    }
  }

  void pass(const View& view, Plan& plan) {
    const auto res = s_.resolution_s;
    const auto first = down(view.now, res);
    const bool together = view.cluster.placer() == Placer::consolidate;
    Table table(together ? view.cluster.node_end() : 1,
                together ? view.cluster.gpus_per_node() : view.cluster.total_gpus(),
                down(view.now + Seconds(60 * s_.window_min), res) - first + 1);
    for (const auto& [id, run] : runs_) {
      if (run.end) continue;
      Nodes where;
      for (const Slice& slice : run.where) {
        where.emplace_back(together ? slice.node : 0, std::popcount(slice.gpus));
      }
      table.take(where, 0, up(run.until, res) - first);
    }
    std::vector<JobId> tested;
    std::map<std::uint32_t, int> of_user;
    for (const JobId id : waiting_) {
      if (s_.max_user > 0 && ++of_user[view.job(id).user] > s_.max_user) continue;
      if (std::ssize(tested) < s_.max_test) tested.push_back(id);
    }
    for (std::size_t i = 0; i < tested.size(); ++i) {
      const bool any = std::any_of(tested.begin() + static_cast<std::ptrdiff_t>(i), tested.end(),
                                   [&](JobId id) { return view.cluster.fits(view.job(id).gpus); });
      if (!any) return;
      test(view, plan, table, tested[i]);
    }
  }

  void test(const View& view, Plan& plan, Table& table, JobId id) {
    const auto res = s_.resolution_s;
    const auto first = down(view.now, res);
    const auto now_to = up(view.now + length(view, id), res) - first;
    if (const auto where = choose(view, table, id, {0, now_to})) {
      table.take(*where, 0, now_to);
      return start(view, plan, id, where);
    }
    const auto slots = (length(view, id).count() + res - 1) / res;
    for (std::int64_t from = 1; from < table.slots(); ++from) {
      const auto where = choose(view, table, id, {from, from + slots});
      if (!where) continue;
      table.take(*where, from, from + slots);
      planned_[id] = *where;
      promised_->try_emplace(id, at((first + from) * res));
      return;
    }
    planned_.erase(id);
  }

  std::optional<Nodes> choose(const View& view, const Table& table, JobId id,
                              std::pair<std::int64_t, std::int64_t> when) {
    const auto [from, to] = when;
    if (planned_.contains(id) && std::ranges::all_of(planned_[id], [&](const auto& share) {
          return table.fits(share.first, share.second, from, to);
        })) {
      return planned_[id];
    }
    return table.find(view.job(id).gpus, from, to);
  }

  PlainSettings s_;
  std::map<JobId, SimTime>* promised_;
  std::vector<JobId> waiting_;
  std::map<JobId, Run> runs_;
  std::map<JobId, std::uint32_t> priority_;
  std::map<std::uint32_t, double> fairshare_;
  std::map<JobId, Nodes> planned_;
  std::int64_t period_ = INT64_MIN;
  bool changed_ = false;
  SimTime next_pass_ = SimTime::min();
};

constexpr std::array plain_placers{Placer::consolidate, Placer::consolidate, Placer::first_fit,
                                   Placer::spread};

template <class Value, std::size_t count>
Value pick(Random& random, const std::array<Value, count>& values) {
  return values[static_cast<std::size_t>(random.below(count))];
}

/// A crowded VC. All times are multiples of `step_s`; estimates are off by up to `error` times.
SlurmScenario random_scenario(Random& random, std::int64_t step_s, double error) {
  SlurmScenario made;
  PartitionSpec vc{.name = "vc", .gpu_type = ""};
  vc.nodes = static_cast<int>(random.between(1, 6));
  vc.gpus_per_node = pick(random, std::array{1, 2, 4, 8, 8, 3});
  const int all = vc.nodes * vc.gpus_per_node;
  const std::int64_t longest = random.between(2, 20);
  std::int64_t now_s = 0;
  for (int i = 0; i < 40; ++i) {
    now_s += random.below(3) == 0 ? 0 : step_s * random.below(longest / 2);
    Job job;
    const std::int64_t most = random.below(3) == 0 ? all : std::min(all, vc.gpus_per_node);
    job.gpus = static_cast<int>(random.between(1, most));
    job.submit = at(now_s);
    job.user = static_cast<std::uint32_t>(random.below(3));
    job.duration = Seconds(step_s * random.between(1, longest));
    made.trace.jobs.push_back(job);
    const double factor = 1 + error * random.uniform();
    const auto duration_s = static_cast<double>(job.duration.count());
    made.estimates_s.push_back(random.below(3) != 0 ? duration_s * factor : duration_s / factor);
  }
  made.trace.vcs = {vc.name};
  made.trace.users = {"a", "b", "c"};
  made.cluster.partitions = {vc};
  made.placer = pick(random, plain_placers);
  return made;
}

void check_equal(const SimResult& quick, const SimResult& plain) {
  for (std::size_t row = 0; row < quick.outcomes.size(); ++row) {
    INFO("row ", row);
    REQUIRE(quick.outcomes[row].status == JobStatus::finished);
    REQUIRE(quick.outcomes[row].status == plain.outcomes[row].status);
    REQUIRE(seconds_of(quick.outcomes[row].start) == seconds_of(plain.outcomes[row].start));
    REQUIRE(quick.outcomes[row].nodes == plain.outcomes[row].nodes);
  }
}

TEST_CASE("slurm_backfill makes the schedule of a table of nodes by slots") {
  int passed_over = 0;
  std::size_t reserved = 0;
  for (std::uint64_t seed = 0; seed < testing::cases(3000); ++seed) {
    INFO("seed ", seed);
    Random random(mix(seed));
    SlurmScenario given =
        random_scenario(random, pick(random, std::array{1, 13, 60}), seed % 3 == 0 ? 0 : 2);
    if (random.below(4) == 0) given.cluster.partitions[0].round = Seconds(45);
    PlainSettings& s = given.settings;
    s.interval_s = pick(random, std::array{1, 30, 100});
    s.window_min = pick(random, std::array{1, 3, 20});
    s.resolution_s = pick(random, std::array{1, 7, 60, 60});
    s.max_test = pick(random, std::array{1, 4, 500});
    s.max_user = pick(random, std::array{0, 0, 2});
    s.age = pick(random, std::array{0, 9'973, 99'991});
    s.size = pick(random, std::array{0, 997});
    s.fairshare = pick(random, std::array{0, 9'901});
    s.small = random.below(2) == 0;
    std::map<JobId, SimTime> promised;
    const SimResult quick = run(given, fast(given));
    check_equal(quick, run(given, PlainSlurm(s, promised)));
    SimTime latest;
    for (const JobOutcome& outcome : quick.outcomes) {
      passed_over += outcome.start < latest ? 1 : 0;
      latest = std::max(latest, outcome.start);
    }
    reserved += promised.size();
  }
  CHECK(std::cmp_greater(passed_over, testing::cases(10'000)));
  CHECK(reserved > testing::cases(10'000));
}

// Times on the grid, a pass at each event, first come first served: no job moves another's
// reservation, whatever is filled in.
TEST_CASE("with right predictions a reservation of slurm_backfill is kept to the second") {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    INFO("seed ", seed);
    Random random(mix(seed + 7'000'000));
    const std::int64_t step_s = seed % 2 == 0 ? 1 : 60;
    SlurmScenario given = random_scenario(random, step_s, 0);
    given.settings = {.interval_s = step_s == 1 ? 1 : 30,
                      .window_min = 50 * step_s,
                      .resolution_s = step_s,
                      .age = 1000};
    std::map<JobId, SimTime> promised;
    const SimResult quick = run(given, fast(given));
    check_equal(quick, run(given, PlainSlurm(given.settings, promised)));
    for (const auto& [id, start] : promised) {  // rows enter in order, so ids are rows
      REQUIRE(seconds_of(quick.outcomes[index_of(id)].start) <= seconds_of(start));
      ++kept;
    }
  }
  CHECK(kept > 5'000);
}

}  // namespace
}  // namespace schedmate::policy
