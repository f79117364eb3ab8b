// SPDX-License-Identifier: Apache-2.0
/// slurm_backfill: what Slurm sites run, sched/backfill with priority/multifactor
/// (docs/decisions/0014).
///
/// Order: multifactor priority, then submission, then entry (slurm_backfill_priority.hpp).
///
/// Whenever something happens the main scheduler starts jobs from the top and stops at the first
/// that cannot be placed. When something has changed since the last backfill pass and that was
/// bf_interval ago, a pass follows: the first bf_max_job_test jobs in order, at most
/// bf_max_job_user of each user, are tested one by one against a map of what is expected to be
/// free in the next bf_window. Each starts if it can go somewhere now and stay there without
/// touching a reservation made before it in this pass; else it gets one itself, at the earliest
/// slot of bf_resolution at which its gang could be placed and stay (with
/// bf_job_part_count_reserve only so many do). So backfilling is conservative within the window.
/// Changes are arrivals, ends, nodes, predictions outlived, orders that are set and a new
/// calculation of priorities.
///
/// Ties between nodes go as the placer would choose among those that will do, but a job keeps the
/// nodes of its last reservation where they serve as early. Predictions are JobInfo::remaining, at
/// least one second; a job that outlives its own is expected to run as long again as it has so
/// far, and is never killed.
///
/// Where jobs have nodes of their own (JobInfo::nodes: partitions of some of the nodes, nodes that
/// they name), one that the main scheduler cannot place ends the walk for its nodes only: others
/// go on with those that are left (open_nodes.hpp). One whose nodes are too few, as they are down
/// or closed by others, is passed over, and so is one that a limit leaves no room
/// (View::may_start), which gets no reservation either.
///
/// Departures from Slurm: it reserves whole nodes, this the GPUs of a node that are needed unless
/// bf_whole_nodes is set; it forgets the nodes of a reservation until the next pass; its passes
/// take time; a pass here ends when none of the jobs left could be placed now, as their
/// reservations would change nothing. default_queue_depth and batch_sched_delay are left out.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <schedmate/scheduler.hpp>

#include "core/open_nodes.hpp"
#include "policy/free_times.hpp"
#include "policy/slurm_backfill_map.hpp"
#include "policy/slurm_backfill_priority.hpp"

namespace schedmate::policy {
namespace {

struct SlurmSettings {
  Seconds interval{30};
  Seconds window{1440 * 60};
  Seconds resolution{60};
  std::int64_t max_job_test = 500;
  std::int64_t max_job_user = 0;
  std::int64_t reserve = 0;
  bool whole_nodes = false;
  MultifactorWeights weights;
};

Seconds predicted_run_time(const View& view, JobId id) {
  constexpr double longest_s = 1e12;  // keeps every sum of times in range
  const double remaining_s = view.job(id).remaining(view.now).count();
  if (!(remaining_s > 1)) return Seconds(1);
  return Seconds(static_cast<std::int64_t>(std::ceil(std::min(remaining_s, longest_s))));
}

class SlurmBackfill {
 public:
  explicit SlurmBackfill(const SlurmSettings& settings)
      : settings_(settings), queue_(settings.weights) {}

  void operator()(const View& view, Plan& plan) {
    if (!times_) times_.emplace(view.cluster);
    for (const JobId id : view.adopted) adopt(view, id);
    note_changes(view);
    start_from_the_top(view, plan);
    if (queue_.empty()) return;
    if (changed_ && next_pass_ <= view.now) {
      pass(view, plan);
      changed_ = false;
      next_pass_ = view.now + settings_.interval;
    }
    if (changed_) plan.wake_at(next_pass_);
    if (const auto* end = times_->next_end()) plan.wake_at(end->at);  // may be outlived
    plan.wake_at(queue_.next_calculation(view.now));
  }

 private:
  struct Waiting {
    int gang = 0;
    Seconds run_time{0};             // predicted
    Shares planned{};                // nodes of its last reservation
    const NodeSet* nodes = nullptr;  // that it may use; null: all
  };

  void adopt(const View& view, JobId id) {
    times_->hold(id, view.cluster.allocation(id), view.now + predicted_run_time(view, id));
    queue_.adopt(view, id);
  }

  void note_changes(const View& view) {
    changed_ = queue_.calculate(view) || changed_ || !view.ended.empty() || !view.arrived.empty() ||
               !view.nodes.empty() || !view.withdrawn.empty() || !view.reordered.empty();
    for (const JobId id : view.ended) {
      times_->free(id);
      queue_.ended(view, id);
    }
    for (const JobId id : view.withdrawn) leave(id);
    for (const std::uint32_t node : view.nodes) times_->follow(view.cluster, node);
    for (const JobId id : view.arrived) {
      queue_.push(view, id);
      const JobInfo& job = view.job(id);
      waiting_[id] = {job.gpus, predicted_run_time(view, id), {}, job.nodes};
      if (job.nodes != nullptr) ++with_nodes_;
    }
    for (const JobId id : view.reordered) {
      queue_.remove(id);
      queue_.push(view, id);
    }
    for (const auto* end = times_->next_end(); end != nullptr && end->at <= view.now;
         end = times_->next_end()) {
      times_->expect(end->job,
                     view.now + std::max(view.now - view.job(end->job).run_since, Seconds(1)));
      changed_ = true;
    }
  }

  /// Else nobody needs the order.
  [[nodiscard]] bool may_start(const View& view) const {
    return !queue_.empty() && view.cluster.fits(queue_.smallest_gang());
  }

  void start_from_the_top(const View& view, Plan& plan) {
    const bool passes_over = with_nodes_ > 0 || view.has_room != nullptr;
    if (passes_over && times_->together()) return start_on_open_nodes(view, plan);
    while (may_start(view)) {
      const JobId id = queue_.first();
      const Waiting& job = waiting_.at(id);
      if (!view.cluster.fits(job.gang)) return;
      const bool open = std::ranges::all_of(job.planned, [&](const Share& share) {
        return std::popcount(view.cluster.free_mask(share.node)) >= share.gpus;
      });
      start(view, plan, id, open ? Shares(job.planned) : Shares());
    }
  }

  void start_on_open_nodes(const View& view, Plan& plan) {
    if (!may_start(view)) return;
    OpenNodes open(view.cluster);
    std::size_t passed = 0;  // those before have been asked
    for (bool started = true; started && may_start(view);) {
      started = false;
      auto in_order = queue_.in_order();
      for (std::size_t i = 0; i < passed; ++i) (void)in_order.next();
      for (auto entry = in_order.next(); entry && !started && !open.none();) {
        const Shares where = where_open(view, open, entry->job);
        started = !where.empty();
        if (started) {
          start(view, plan, entry->job, where);
        } else {
          ++passed;
          entry = in_order.next();
        }
      }
    }
  }

  /// Now; empty: nowhere, and its nodes are closed unless a limit is in its way.
  [[nodiscard]] Shares where_open(const View& view, OpenNodes& open, JobId id) const {
    const Waiting& job = waiting_.at(id);
    if (!view.may_start(id)) return {};
    if (!open.enough_for(job.gang, job.nodes)) return {};
    const bool as_planned = std::ranges::all_of(job.planned, [&](const Share& share) {
      return open.has(share.node) &&
             std::popcount(view.cluster.free_mask(share.node)) >= share.gpus;
    });
    if (as_planned && !job.planned.empty()) return job.planned;
    Shares where;
    for (const Slice& slice : open.find(job.gang, job.nodes))
      where.push_back({slice.node, std::popcount(slice.gpus)});
    if (where.empty()) open.close(job.nodes);
    return where;
  }

  void leave(JobId id) {
    if (waiting_.at(id).nodes != nullptr) --with_nodes_;
    queue_.remove(id);
    waiting_.erase(id);
  }

  /// Starts a job that fits, there or, if that is empty, where the placer says.
  void start(const View& view, Plan& plan, JobId id, const Shares& where) {
    const Waiting& job = waiting_.at(id);
    if (where.empty() || !times_->together()) {
      plan.start(id, job.gang);
    } else {
      plan.start_on(id, free_gpus(view.cluster, where));
    }
    times_->hold(id, view.cluster.allocation(id), view.now + job.run_time);
    leave(id);
    queue_.started(view, id);
  }

  /// The lowest free ones, as a placer takes them.
  static Placement free_gpus(const Cluster& cluster, const Shares& where) {
    Placement placement;
    for (const Share& share : where) {
      const std::uint64_t free = cluster.free_mask(share.node);
      std::uint64_t rest = free;
      for (int i = 0; i < share.gpus; ++i) rest &= rest - 1;
      placement.push_back({share.node, free & ~rest});
    }
    return placement;
  }

  void pass(const View& view, Plan& plan) {
    if (!may_start(view)) return;
    choose_tested(view);
    FreeMap map(*times_, view.cluster,
                {view.now, settings_.window, settings_.resolution, settings_.whole_nodes});
    reserved_ = 0;
    for (const Tested& each : tested_) {
      if (!view.cluster.fits(each.least)) return;
      test(view, plan, map, each);
    }
  }

  struct Tested {
    JobId id;
    Waiting* job;
    int least;  // gang of all from here on
  };

  void test(const View& view, Plan& plan, FreeMap& map, const Tested& tested) {
    Waiting& job = *tested.job;
    if (!view.may_start(tested.id)) return job.planned.clear();
    const FreeMap::Request request{job.gang, job.run_time, job.planned, job.nodes};
    if (const Shares where = map.now(request); !where.empty()) {
      const Seconds run_time = job.run_time;
      start(view, plan, tested.id, where);
      map.started(where, run_time);
      return;
    }
    const bool reserves = settings_.reserve == 0 || reserved_ < settings_.reserve;
    auto reservation = reserves ? map.reserve(request) : std::nullopt;
    reserved_ += reservation ? 1 : 0;
    job.planned = reservation ? std::move(reservation->where) : Shares();
  }

  void choose_tested(const View& view) {
    tested_.clear();
    std::map<std::uint32_t, std::int64_t> of_user;
    auto in_order = queue_.in_order();
    while (std::ssize(tested_) < settings_.max_job_test) {
      const auto entry = in_order.next();
      if (!entry) break;
      if (settings_.max_job_user > 0 &&
          ++of_user[view.job(entry->job).user] > settings_.max_job_user) {
        continue;
      }
      Waiting& job = waiting_.at(entry->job);
      tested_.push_back({entry->job, &job, job.gang});
    }
    int least = std::numeric_limits<int>::max();
    for (Tested& each : tested_ | std::views::reverse)
      each.least = least = std::min(least, each.least);
  }

  SlurmSettings settings_;
  MultifactorQueue queue_;
  std::optional<FreeTimes> times_;  // from the first call on
  JobMap<Waiting> waiting_;
  int with_nodes_ = 0;          // of those that wait
  std::vector<Tested> tested_;  // of one pass
  std::int64_t reserved_ = 0;   // likewise
  bool changed_ = false;        // since the last pass
  SimTime next_pass_ = SimTime::min();
};

/// Numbers within Slurm's own bounds.
class Bounded {
 public:
  explicit Bounded(PolicyOptions& options) : options_(options) {}
  template <class Number>
  struct Range {
    Number least;
    Number most;
  };
  std::int64_t take(std::string_view key, std::int64_t fallback, Range<std::int64_t> range) {
    return within(key, options_.take_integer(key, fallback), range).value_or(fallback);
  }
  Seconds take_days(std::string_view key, double fallback, Range<double> range) {
    constexpr double day_s = 86'400;
    const auto days = within(key, options_.take_number(key, fallback), range).value_or(fallback);
    return Seconds(std::llround(day_s * days));
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  template <class Number>
  std::optional<Number> within(std::string_view key, Result<Number> value, Range<Number> range) {
    if (value && *value >= range.least && *value <= range.most) return *value;
    if (error_) return std::nullopt;
    error_ = value ? Error{ErrorCode::unsupported, fmt::format("{}={}: must be {} to {}", key,
                                                               *value, range.least, range.most)}
                   : value.error();
    return std::nullopt;
  }

  PolicyOptions& options_;
  std::optional<Error> error_;  // the first
};

Result<SlurmSettings> read_settings(PolicyOptions& options) {
  constexpr Bounded::Range<std::int64_t> weight{0, 1'000'000'000};
  constexpr double most_days = 3650;
  Bounded numbers(options);
  SlurmSettings made;
  made.interval = Seconds(numbers.take("bf_interval", 30, {1, 10'800}));
  made.window = Seconds(60 * numbers.take("bf_window", 1440, {1, 43'200}));
  made.resolution = Seconds(numbers.take("bf_resolution", 60, {1, 3600}));
  made.max_job_test = numbers.take("bf_max_job_test", 500, {1, 1'000'000});
  made.max_job_user = numbers.take("bf_max_job_user", 0, {0, 1'000'000});
  made.reserve = numbers.take("bf_job_part_count_reserve", 0, {0, 100'000});
  MultifactorWeights& weights = made.weights;
  weights.age = numbers.take("weight_age", weights.age, weight);
  weights.shortness = numbers.take("weight_shortness", weights.shortness, weight);
  weights.job_size = numbers.take("weight_job_size", weights.job_size, weight);
  weights.fairshare = numbers.take("weight_fairshare", weights.fairshare, weight);
  weights.max_age = numbers.take_days("max_age_d", 7, {0.001, most_days});
  weights.half_life = numbers.take_days("half_life_d", 7, {0, most_days});
  weights.calc_period = Seconds(60 * numbers.take("calc_period_min", 5, {1, 1440}));
  const auto favor_small = options.take_flag("favor_small", weights.favor_small);
  const auto in_account = options.take_flag("fairshare_in_account", weights.in_account);
  const auto whole_nodes = options.take_flag("bf_whole_nodes", made.whole_nodes);
  if (numbers.error()) return tl::unexpected(*numbers.error());
  if (!favor_small) return tl::unexpected(favor_small.error());
  if (!in_account) return tl::unexpected(in_account.error());
  if (!whole_nodes) return tl::unexpected(whole_nodes.error());
  weights.favor_small = *favor_small;
  weights.in_account = *in_account;
  made.whole_nodes = *whole_nodes;
  return made;
}

}  // namespace

Result<Scheduler> make_slurm_backfill(const PolicyInput&, PolicyOptions& options) {
  const auto settings = read_settings(options);
  if (!settings) return tl::unexpected(settings.error());
  Scheduler scheduler;
  scheduler.decide = SlurmBackfill(*settings);
  scheduler.estimator = "limit";
  scheduler.plans = true;
  scheduler.heeds_nodes = true;
  scheduler.heeds_limits = true;
  scheduler.heeds_order = true;
  return scheduler;
}

}  // namespace schedmate::policy
