// SPDX-License-Identifier: Apache-2.0
/// schedmate: the standalone scheduler (paper 4.3): least expected work first, with ageing.
///
/// Order: expected run time x GPUs, less `ageing` x GPUs of the VC for each second of waiting, then
/// order of entry; as everybody ages alike this order never changes. Every job that fits may start,
/// whatever waits in front of it, until a job is overdue: one that has waited for `patience` times
/// its expected run time, but at least `patience_min_s`. Overdue jobs come first, the longest
/// overdue at the head, and nothing else starts before them, so none starves: once at the head it
/// waits for at most the longest job that runs then. No preemption. Settings: ageing=0.001,
/// patience=10, patience_min_s=86400.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <schedmate/scheduler.hpp>
#include <set>
#include <tuple>

namespace schedmate {
namespace {

struct StandaloneOptions {
  double ageing = 0.001;
  double patience = 10;
  Seconds least_patience{86'400};
};

class Standalone {
 public:
  explicit Standalone(StandaloneOptions options) : options_(options) {}

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.arrived) enter(view, id);
    while (!deadlines_.empty() && deadlines_.begin()->first <= view.now) {
      const JobId id = deadlines_.begin()->second;
      if (!plan.start(id, view.job(id).gpus)) return;  // woken by the next end
      leave(view, id);
    }
    serve(view, plan);
    if (!deadlines_.empty()) plan.wake_at(deadlines_.begin()->first);
  }

 private:
  struct Place {
    double rank = 0;
    SimTime deadline;
  };
  using Line = std::set<std::pair<double, JobId>>;

  void enter(const View& view, JobId id) {
    const JobInfo& job = view.job(id);
    const double run_s = std::max(1.0, job.remaining(view.now).count());
    const double aged = options_.ageing * view.cluster.total_gpus();
    const auto entered_s = static_cast<double>(seconds_of(job.entered));
    constexpr double longest_s = 1e10;
    const double patience_s = std::min(longest_s, options_.patience * run_s);
    Place place;
    place.rank = run_s * job.gpus + aged * entered_s;
    place.deadline = job.entered + std::max(options_.least_patience,
                                            Seconds(static_cast<std::int64_t>(patience_s)));
    places_.resize(std::max<std::size_t>(places_.size(), index_of(id) + 1));
    places_[index_of(id)] = place;
    lines_[job.gpus].emplace(place.rank, id);
    deadlines_.emplace(place.deadline, id);
  }

  void leave(const View& view, JobId id) {
    const Place& place = places_[index_of(id)];
    const auto line = lines_.find(view.job(id).gpus);
    line->second.erase({place.rank, id});
    if (line->second.empty()) lines_.erase(line);
    deadlines_.erase({place.deadline, id});
  }

  /// Whether a gang can be placed depends on its size alone: only the first of each size is asked.
  void serve(const View& view, Plan& plan) {
    std::set<std::tuple<double, JobId, int>> heads;
    for (const auto& [gpus, line] : lines_)
      heads.emplace(line.begin()->first, line.begin()->second, gpus);
    while (!heads.empty()) {
      const auto [rank, id, gpus] = *heads.begin();
      heads.erase(heads.begin());
      if (!plan.start(id, gpus)) continue;
      leave(view, id);
      const auto line = lines_.find(gpus);
      if (line == lines_.end()) continue;
      heads.emplace(line->second.begin()->first, line->second.begin()->second, gpus);
    }
  }

  StandaloneOptions options_;
  std::map<int, Line> lines_;  // by GPUs
  std::set<std::pair<SimTime, JobId>> deadlines_;
  std::vector<Place> places_;  // by JobId
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
  if (!(*ageing >= 0) || !(*patience >= 0) || *least < 0) {
    return fail(ErrorCode::unsupported,
                fmt::format("ageing={}, patience={}, patience_min_s={}: none may be negative",
                            *ageing, *patience, *least));
  }
  Scheduler scheduler;
  scheduler.decide = Standalone({*ageing, *patience, Seconds(*least)});
  scheduler.estimator = "last_k";
  return scheduler;
}

}  // namespace schedmate
