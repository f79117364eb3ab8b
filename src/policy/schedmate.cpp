// SPDX-License-Identifier: Apache-2.0
/// schedmate: the standalone scheduler (paper 4.3): least expected work first, with ageing.
///
/// Order: expected run time x GPUs, less `ageing` x GPUs of the VC for each second of waiting, then
/// order of entry; as everybody ages alike this order never changes. Every job that fits may start,
/// whatever waits in front of it, until a job is overdue: one that has waited for `patience` times
/// its expected run time, at least `patience_min_s`, at most `patience_max_s`, so that no wrong
/// expectation starves a job. The longest overdue job goes first and has a reservation, as the head
/// has under EASY (backfill_easy.cpp): others start only where they are not expected to move it.
/// From twice that wait on nothing else starts before it, so none starves: then it waits for at
/// most the longest job that runs. A job for which too few nodes are up holds nobody up. No
/// preemption. Settings: ageing=0.001, patience=10,
/// patience_min_s=172800, patience_max_s=2592000.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <set>
#include <tuple>

#include "policy/free_times.hpp"

namespace schedmate::policy {
namespace {

struct StandaloneOptions {
  double ageing = 0.001;
  double patience = 10;
  Seconds least_patience{172'800};
  Seconds most_patience{2'592'000};  ///< not below the least
};

class Standalone {
 public:
  explicit Standalone(StandaloneOptions options) : options_(options) {}

  void operator()(const View& view, Plan& plan) {
    if (!times_) times_.emplace(view.cluster);
    for (const JobId id : view.adopted)
      times_->hold(id, view.cluster.allocation(id), view.now + expected(view, id));
    for (const JobId id : view.ended) times_->free(id);
    for (const JobId id : view.withdrawn) take_from_queue(id, view.job(id).gpus);
    for (const std::uint32_t node : view.nodes) times_->follow(view.cluster, node);
    follow_size(view);
    for (const JobId id : view.arrived) enter(view, id);
    expect_overdue(view);
    auto head = deadlines_.begin();
    while (head != deadlines_.end() && head->first <= view.now && start(view, plan, head->second))
      head = deadlines_.begin();
    const bool is_overdue = head != deadlines_.end() && head->first <= view.now;
    if (!is_overdue) {
      serve(view, plan, std::nullopt);
      if (!deadlines_.empty()) plan.wake_at(deadlines_.begin()->first);
      return;
    }
    const Place& place = places_.at(head->second);
    const int gang = view.job(head->second).gpus;
    std::optional<Reservation> reserved = Reservation{gang, times_->earliest(gang)};
    if (reserved->at == never) reserved.reset();
    if (reserved && view.now >= place.deadline + (place.deadline - place.entered)) return;
    serve(view, plan, reserved);
    // Should a job outlive its prediction, others may gain from a later reservation.
    if (const auto* end = times_->next_end()) plan.wake_at(end->at);
  }

 private:
  struct Place {
    double rank = 0;
    SimTime entered, deadline;
  };
  struct Reservation {
    int gang;
    SimTime at;
  };
  using Line = std::set<std::pair<double, JobId>>;

  static Seconds expected(const View& view, JobId id) {
    constexpr double longest_s = 1e10;
    const double left_s = view.job(id).remaining(view.now).count();
    return Seconds(static_cast<std::int64_t>(std::ceil(std::clamp(left_s, 1.0, longest_s))));
  }

  void enter(const View& view, JobId id) {
    const JobInfo& job = view.job(id);
    const auto run_s = static_cast<double>(expected(view, id).count());
    const auto patience = Seconds(static_cast<std::int64_t>(options_.patience * run_s));
    Place& place = places_[id];
    place.rank = run_s * job.gpus + age_at(job.entered);
    place.entered = job.entered;
    place.deadline =
        job.entered + std::clamp(patience, options_.least_patience, options_.most_patience);
    lines_[job.gpus].emplace(place.rank, id);
    deadlines_.emplace(place.deadline, id);
  }

  /// Everybody who waits ages by the GPUs of the VC each second, so one clock serves all; it goes
  /// on where it stood when nodes come or go.
  void follow_size(const View& view) {
    const double slope = options_.ageing * view.cluster.total_gpus();
    if (slope == slope_) return;
    if (slope_ >= 0) {
      age_ = age_at(view.now);
      since_ = view.now;
    }
    slope_ = slope;
  }
  [[nodiscard]] double age_at(SimTime when) const {
    return age_ + slope_ * static_cast<double>((when - since_).count());
  }

  /// A job beyond its prediction is expected to run as long again.
  void expect_overdue(const View& view) {
    for (const auto* end = times_->next_end(); end != nullptr && end->at <= view.now;
         end = times_->next_end())
      times_->expect(end->job,
                     view.now + std::max(view.now - view.job(end->job).run_since, Seconds(1)));
  }

  bool start(const View& view, Plan& plan, JobId id) {
    const int gpus = view.job(id).gpus;
    if (!plan.start(id, gpus)) return false;
    times_->hold(id, view.cluster.allocation(id), view.now + expected(view, id));
    take_from_queue(id, gpus);
    return true;
  }

  void take_from_queue(JobId id, int gpus) {
    const Place place = places_.at(id);
    places_.erase(id);
    const auto line = lines_.find(gpus);
    line->second.erase({place.rank, id});
    if (line->second.empty()) lines_.erase(line);
    deadlines_.erase({place.deadline, id});
  }

  /// Whether a job can be placed depends on its size alone, and the first of a size is about the
  /// shortest of it: only the first of each is asked.
  void serve(const View& view, Plan& plan, std::optional<Reservation> reserved) {
    std::set<std::tuple<double, JobId, int>> heads;
    const auto add_head = [&](int gpus, const Line& line) {
      heads.emplace(line.begin()->first, line.begin()->second, gpus);
    };
    for (const auto& [gpus, line] : lines_) add_head(gpus, line);
    while (!heads.empty()) {
      const auto [rank, id, gpus] = *heads.begin();
      heads.erase(heads.begin());
      if (reserved && !keeps(view, *reserved, id)) continue;
      if (!start(view, plan, id)) continue;
      if (const auto line = lines_.find(gpus); line != lines_.end()) add_head(gpus, line->second);
    }
  }

  /// Whether the reservation stays when the job starts now.
  [[nodiscard]] bool keeps(const View& view, const Reservation& reserved, JobId id) {
    if (view.now + expected(view, id) <= reserved.at) return true;
    Placement where;
    return view.cluster.find(view.job(id).gpus, where) &&
           times_->possible(reserved.gang, reserved.at, where);
  }

  StandaloneOptions options_;
  double age_ = 0;                  // GPU seconds at `since_`
  SimTime since_;                   // the clock's zero, until the VC changes
  double slope_ = -1;               // from then on, each second; below 0: not yet known
  std::optional<FreeTimes> times_;  // from the first call on
  std::map<int, Line> lines_;       // by GPUs
  std::set<std::pair<SimTime, JobId>> deadlines_;
  JobMap<Place> places_;  // of those that wait
};

}  // namespace

Result<Scheduler> make_schedmate(const PolicyInput&, PolicyOptions& settings) {
  StandaloneOptions options;
  const auto ageing = settings.take_number("ageing", options.ageing);
  if (!ageing) return tl::unexpected(ageing.error());
  const auto patience = settings.take_number("patience", options.patience);
  if (!patience) return tl::unexpected(patience.error());
  const auto least = settings.take_integer("patience_min_s", options.least_patience.count());
  if (!least) return tl::unexpected(least.error());
  const auto usual_most = std::max(options.most_patience.count(), *least);
  const auto most = settings.take_integer("patience_max_s", usual_most);
  if (!most) return tl::unexpected(most.error());
  constexpr double largest_patience = 1e6;
  if (!(*ageing >= 0) || !(*patience >= 0 && *patience <= largest_patience) || *least < 0 ||
      *most < *least) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("ageing={}, patience={}, patience_min_s={}, patience_max_s={}: none may "
                    "be negative, patience at most a million, and patience_max_s not below "
                    "patience_min_s",
                    *ageing, *patience, *least, *most));
  }
  Scheduler scheduler;
  scheduler.decide = Standalone({*ageing, *patience, Seconds(*least), Seconds(*most)});
  scheduler.estimator = "last_k";
  scheduler.expected_work = [](const JobInfo& job) { return job.estimate.count() * job.gpus; };
  return scheduler;
}

}  // namespace schedmate::policy
