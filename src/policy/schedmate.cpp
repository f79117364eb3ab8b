// SPDX-License-Identifier: Apache-2.0
/// schedmate: the standalone scheduler (paper 4.3): least expected run time first, with ageing.
///
/// Order: expected run time, less `ageing` times the time that it has waited, then order of entry;
/// as everybody ages alike this order never changes, and a job is passed only by what enters within
/// its expected run time / `ageing`. The first that cannot be placed has a reservation, as the head
/// has under EASY (backfill_easy.cpp): others start only where they are not expected to move it.
/// One that is not expected to start within `horizon_s` has none: a gang of the whole cluster,
/// whose start recedes with each wrong expectation, would hold up others for weeks. So that no
/// wrong expectation starves a job, one that has waited for `patience` times its expected run time,
/// at least `patience_min_s`, at most `patience_max_s`, is overdue: the longest overdue goes before
/// all others, and from twice that wait on nothing else starts before it; then it waits for at most
/// the longest job that runs. A job for which too few nodes are up holds nobody up. No preemption.
/// Settings: ageing=1, patience=10, patience_min_s=2592000, patience_max_s=2592000,
/// horizon_s=86400.
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
  double ageing = 1;
  double patience = 10;
  Seconds least_patience{2'592'000};
  Seconds most_patience{2'592'000};  ///< not below the least
  Seconds horizon{86'400};           ///< a start that is later than that is not kept free
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
    for (const JobId id : view.arrived) enter(view, id);
    times_->expect_overdue(view);
    auto head = deadlines_.begin();
    while (head != deadlines_.end() && head->first <= view.now && start(view, plan, head->second))
      head = deadlines_.begin();
    std::optional<Reservation> reserved;
    if (head != deadlines_.end() && head->first <= view.now) {
      reserved = reserve(view.job(head->second).gpus);
      const Place& place = places_.at(head->second);
      if (reserved && view.now >= place.deadline + (place.deadline - place.entered)) return;
    } else if (head != deadlines_.end()) {
      plan.wake_at(head->first);
    }
    serve(view, plan, reserved);
    // Should a job outlive its prediction, others may gain from a later reservation.
    if (const auto* end = times_->next_end(); end != nullptr && !lines_.empty())
      plan.wake_at(end->at);
  }

 private:
  struct Place {
    double rank = 0;
    SimTime entered, deadline;
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
    place.rank = run_s + options_.ageing * static_cast<double>(seconds_of(job.entered));
    place.entered = job.entered;
    place.deadline =
        job.entered + std::clamp(patience, options_.least_patience, options_.most_patience);
    lines_[job.gpus].emplace(place.rank, id);
    deadlines_.emplace(place.deadline, id);
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

  [[nodiscard]] std::optional<Reservation> reserve(int gang) {
    const SimTime at = times_->earliest(gang);
    return at == never ? std::nullopt : std::optional(Reservation{gang, at});
  }

  [[nodiscard]] std::optional<Reservation> reserve_soon(const View& view, int gang) {
    const auto reserved = reserve(gang);
    return reserved && reserved->at <= view.now + options_.horizon ? reserved : std::nullopt;
  }

  /// In order of rank over all sizes. Of a size that cannot be placed only the first is asked, and
  /// of one that would move the reservation no more than the first `most_asked`.
  void serve(const View& view, Plan& plan, std::optional<Reservation> reserved) {
    struct Head {
      double rank;
      JobId id;
      int gpus, asked;
      bool operator<(const Head& other) const {
        return std::tie(rank, id) < std::tie(other.rank, other.id);
      }
    };
    constexpr int most_asked = 200;
    std::set<Head> heads;
    for (const auto& [gpus, line] : lines_)
      heads.insert({line.begin()->first, line.begin()->second, gpus, 0});
    while (!heads.empty()) {
      const Head head = heads.extract(heads.begin()).value();
      const Line& line = lines_.at(head.gpus);
      const auto after = std::next(line.find({head.rank, head.id}));
      const bool more = after != line.end();
      const auto [rank, id] = more ? *after : std::pair(0.0, JobId());
      const bool fits = view.cluster.fits(head.gpus);
      const bool started =
          fits && (!reserved || keeps(view, *reserved, head.id)) && start(view, plan, head.id);
      if (!started && !reserved) reserved = reserve_soon(view, head.gpus);
      if (fits && more && head.asked < most_asked)
        heads.insert({rank, id, head.gpus, head.asked + (started ? 0 : 1)});
    }
  }

  /// Whether the reservation stays when the job starts now.
  [[nodiscard]] bool keeps(const View& view, const Reservation& reserved, JobId id) {
    return view.now + expected(view, id) <= reserved.at ||
           times_->may_outlast(reserved, view.cluster, view.job(id).gpus);
  }

  StandaloneOptions options_;
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
  const auto horizon = settings.take_integer("horizon_s", options.horizon.count());
  if (!horizon) return tl::unexpected(horizon.error());
  const auto usual_most = std::max(options.most_patience.count(), *least);
  const auto most = settings.take_integer("patience_max_s", usual_most);
  if (!most) return tl::unexpected(most.error());
  constexpr double largest_patience = 1e6;
  if (!(*ageing >= 0) || !(*patience >= 0 && *patience <= largest_patience) || *least < 0 ||
      *most < *least || *horizon < 0) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("ageing={}, patience={}, patience_min_s={}, patience_max_s={}, horizon_s={}: "
                    "none may be negative, patience at most a million, and patience_max_s not "
                    "below patience_min_s",
                    *ageing, *patience, *least, *most, *horizon));
  }
  Scheduler scheduler;
  scheduler.decide =
      Standalone({*ageing, *patience, Seconds(*least), Seconds(*most), Seconds(*horizon)});
  scheduler.estimator = "last_k";
  // What a cluster that starts jobs itself is told: GPU time, which serves a conservative
  // backfiller better than the run time (tests/replay/ordering_test.cpp).
  scheduler.expected_work = [](const JobInfo& job) { return job.estimate.count() * job.gpus; };
  return scheduler;
}

}  // namespace schedmate::policy
