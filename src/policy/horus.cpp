// SPDX-License-Identifier: Apache-2.0
/// horus: interference-aware packing by predicted utilisation (Horus, TPDS 33(1), 2022), after its
/// author's public simulator. No preemption, no run-time estimates.
///
/// Order: average GPU utilisation, lowest first, ties by order of entry. Once a minute the first
/// five waiting jobs are looked at and the first of them that fits is started: one start a minute.
/// A GPU takes up to three jobs if more than 500 MiB of its memory stay free. Its cost is
///   1.3 x (memory of all, newcomer included) / capacity + u / 100 + residents,
///   u = |utilisation now + newcomer's peak - 100|, times 1.6 when that sum is above 100,
/// with the utilisation now drawn from the seed. A node is as good as its cheapest GPU. From each
/// node in that order a plan takes what fits there, then on the next nodes; the complete plan with
/// the fewest nodes wins, ties by order, and on a node the cheapest GPUs are taken.
///
/// Departures. The simulator divides only the newcomer's memory by the capacity, a precedence slip,
/// repaired here; it takes a node's first GPUs that fit, though the cost of the cheapest one chose
/// the node; it goes on in the nearest racks, which traces do not have; it has one queue for the
/// cluster, here each VC has its own; it checks CPUs and host memory, which are never scarce here.
/// Its interference factor never applies; here jobs that share run at the speed of the pair table,
/// as under lucid. Profiles hold averages alone: the peak is `peak` x the average, at most 100. A
/// job without a profile counts as busy all the time and shares with nobody; an idle GPU takes any
/// job. Settings: tries, tasks, memory_mib, peak, tick_s. See docs/decisions/0007.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "policy/defaults.hpp"

namespace schedmate::policy {
namespace {

constexpr double spare_mib = 500;
constexpr double memory_weight = 1.3;
constexpr double overload_weight = 1.6;
constexpr double full_pct = 100;

struct HorusOptions {
  int tries = 5;          ///< waiting jobs looked at in one tick
  int tasks = 3;          ///< jobs on one GPU
  double memory_mib = 0;  ///< of a GPU; 0 = as the cluster file says
  double peak = 1.2;      ///< highest / average utilisation of a job; ours
  Seconds tick{60};
};

double average_pct(const JobInfo& job) {
  return job.profile == nullptr ? full_pct : job.profile->gpu_util_pct;
}
double memory_mib(const JobInfo& job) {
  return job.profile == nullptr ? 0 : job.profile->memory_mib;
}

template <class Action>
void for_each_gpu(std::uint64_t mask, Action action) {
  for (; mask != 0; mask &= mask - 1) action(std::countr_zero(mask));
}

class Horus {
 public:
  Horus(const HorusOptions& options, std::uint64_t seed) : options_(options), random_(seed) {}

  void operator()(const View& view, Plan& plan) {
    if (options_.memory_mib == 0) options_.memory_mib = view.cluster.gpu_memory_mib();
    for (const JobId id : view.withdrawn) waiting_.erase({average_pct(view.job(id)), id});
    for (const JobId id : view.arrived) waiting_.emplace(average_pct(view.job(id)), id);
    // What fits does not depend on what is drawn, so a tick without news cannot start anything.
    news_ = news_ || !view.arrived.empty() || !view.ended.empty() || !view.nodes.empty();
    if (news_ && round_up(view.now, options_.tick) == view.now) news_ = start_one(view, plan);
    if (news_ && !waiting_.empty()) plan.wake_at(round_up(view.now + Seconds(1), options_.tick));
  }

 private:
  struct Candidate {
    std::uint32_t node;
    std::uint64_t gpus;  // that take the job
    double cost = 0;     // of the cheapest
  };

  bool start_one(const View& view, Plan& plan) {
    int tries = options_.tries;
    for (auto next = waiting_.begin(); next != waiting_.end() && tries > 0; ++next, --tries) {
      const JobId id = next->second;
      if (!find_candidates(view, view.job(id))) continue;
      rate_candidates(view, view.job(id));
      plan.start_on(id, cheapest_placement(view, view.job(id).gpus));
      waiting_.erase(next);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool takes(const View& view, std::span<const JobId> residents,
                           const JobInfo& job) const {
    if (residents.empty()) return true;
    const auto may_share = [](const JobInfo& each) {
      return each.profile != nullptr && !each.alone;
    };
    if (!may_share(job) || std::ssize(residents) >= options_.tasks) return false;
    double used_mib = job.profile->memory_mib;
    for (const JobId id : residents) {
      if (!may_share(view.job(id))) return false;
      used_mib += memory_mib(view.job(id));
    }
    return options_.memory_mib - used_mib > spare_mib;
  }

  /// Whether the whole gang fits somewhere, and all the GPUs that take a part of it.
  bool find_candidates(const View& view, const JobInfo& job) {
    candidates_.clear();
    int found = 0;
    for (std::uint32_t node = 0; node < view.cluster.node_end(); ++node) {
      if (!view.cluster.usable(node)) continue;
      std::uint64_t gpus = 0;
      for (int gpu = 0; gpu < view.cluster.gpus_per_node(); ++gpu) {
        if (takes(view, view.cluster.residents(node, gpu), job)) gpus |= std::uint64_t{1} << gpu;
      }
      if (gpus != 0) candidates_.push_back({node, gpus});
      found += std::popcount(gpus);
    }
    return found >= job.gpus;
  }

  double cost(const View& view, std::span<const JobId> residents, const JobInfo& job) {
    double used_mib = memory_mib(job);
    double now_pct = 0;
    for (const JobId id : residents) {
      const double average = average_pct(view.job(id));
      used_mib += memory_mib(view.job(id));
      now_pct += average + (peak_pct(view.job(id)) - average) / 2 * random_.normal();
    }
    const double sum_pct = std::clamp(now_pct, 0.0, full_pct) + peak_pct(job);
    const double u = std::abs(sum_pct - full_pct) * (sum_pct > full_pct ? overload_weight : 1);
    return memory_weight * used_mib / options_.memory_mib + u / full_pct +
           static_cast<double>(residents.size());
  }

  [[nodiscard]] double peak_pct(const JobInfo& job) const {
    return std::min(full_pct, average_pct(job) * options_.peak);
  }

  void rate_candidates(const View& view, const JobInfo& job) {
    const auto per_node = static_cast<std::size_t>(view.cluster.gpus_per_node());
    costs_.resize(view.cluster.node_end() * per_node);
    for (Candidate& candidate : candidates_) {
      candidate.cost = std::numeric_limits<double>::infinity();
      for_each_gpu(candidate.gpus, [&](int gpu) {
        double& known = costs_[candidate.node * per_node + static_cast<std::size_t>(gpu)];
        known = cost(view, view.cluster.residents(candidate.node, gpu), job);
        candidate.cost = std::min(candidate.cost, known);
      });
    }
    std::ranges::stable_sort(candidates_, {}, &Candidate::cost);
  }

  /// The shortest run of neighbours in the order that holds the gang, the first of equals.
  [[nodiscard]] std::span<const Candidate> fewest_nodes(int gpus) const {
    std::span<const Candidate> best = candidates_;
    int held = 0;
    std::size_t first = 0;
    for (std::size_t end = 1; end <= candidates_.size(); ++end) {
      held += std::popcount(candidates_[end - 1].gpus);
      for (; held >= gpus; ++first) {
        if (end - first < best.size()) best = std::span(candidates_).subspan(first, end - first);
        held -= std::popcount(candidates_[first].gpus);
      }
    }
    return best;
  }

  [[nodiscard]] Placement cheapest_placement(const View& view, int gpus) const {
    Placement where;
    for (const Candidate& candidate : fewest_nodes(gpus)) {
      if (gpus == 0) break;
      const double* const costs =
          costs_.data() + candidate.node * static_cast<std::size_t>(view.cluster.gpus_per_node());
      std::vector<std::pair<double, int>> order;
      for_each_gpu(candidate.gpus, [&](int gpu) { order.emplace_back(costs[gpu], gpu); });
      std::ranges::sort(order);
      Slice slice{candidate.node, 0};
      for (std::size_t i = 0; i < order.size() && gpus > 0; ++i, --gpus) {
        slice.gpus |= std::uint64_t{1} << order[i].second;
      }
      where.push_back(slice);
    }
    return where;
  }

  HorusOptions options_;
  Random random_;
  std::set<std::pair<double, JobId>> waiting_;  // by utilisation
  bool news_ = false;
  std::vector<Candidate> candidates_;  // of the job at hand
  std::vector<double> costs_;          // of the GPUs of its candidates, node x GPU
};

Result<HorusOptions> parse_horus(PolicyOptions& settings) {
  HorusOptions options;
  const auto tries = settings.take_integer("tries", options.tries);
  const auto tasks = settings.take_integer("tasks", options.tasks);
  const auto tick = settings.take_integer("tick_s", options.tick.count());
  const auto memory = settings.take_number("memory_mib", options.memory_mib);
  const auto peak = settings.take_number("peak", options.peak);
  for (const auto* number : {&tries, &tasks, &tick}) {
    if (!*number) return tl::unexpected(number->error());
  }
  for (const auto* number : {&memory, &peak}) {
    if (!*number) return tl::unexpected(number->error());
  }
  if (*tries < 1 || *tries > 1'000'000 || *tasks < 1 || *tasks > Cluster::max_sharing ||
      *tick < 1 || *tick > 86'400 || !(*memory >= 0) || !(*peak >= 1 && *peak <= 100)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("policy/horus: allowed values are tries=1 to 1000000, tasks=1 to {}, tick_s=1 "
                    "to 86400, memory_mib of 0 (the cluster's) or more and peak=1 to 100",
                    Cluster::max_sharing));
  }
  return HorusOptions{static_cast<int>(*tries), static_cast<int>(*tasks), *memory, *peak,
                      Seconds(*tick)};
}

}  // namespace

Result<Scheduler> make_horus(const PolicyInput& input, PolicyOptions& settings) {
  const auto options = parse_horus(settings);
  if (!options) return tl::unexpected(options.error());
  Scheduler scheduler;
  scheduler.decide = Horus(*options, mix(input.seed));
  scheduler.estimator = "last_k";
  scheduler.uses_estimates = false;
  scheduler.packs = true;
  return scheduler;
}

}  // namespace schedmate::policy
