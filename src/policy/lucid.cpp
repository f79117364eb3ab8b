// SPDX-License-Identifier: Apache-2.0
/// lucid: Lucid (ASPLOS'23) as released: non-intrusive profiling in front, packing of
/// two jobs onto one GPU set by sharing score, order by estimated GPU time.
///
/// Order: estimate x GPUs (a negative estimate counts as 1000 s), then order of entry. While
/// packing is on every waiting job is tried, none blocks the next: up to 8 GPUs it first looks for
/// a partner, even if GPUs are free; partner = the running job that started first among those with
/// the same GPU count that share with nobody, whose memory fits beside, whose sharing score and
/// ours add up to at most 2, and whose priority is at least half of ours (no long job onto a short
/// one). While few submissions are expected packing is off: exclusive placement, strict head of
/// line. Jobs without a profile are never packed. Settings: t_prof_s, profiler_nodes, profiler
/// (on/off), elastic, packing (auto, on, off), score_limit, lenders (VCs that give a node, joined
/// by +).
///
/// With SchedMate (paper 4.1; the variant lucid+sm): bypass (none; all: jobs whose GPU use
/// similar jobs predict are not profiled; outlasting: of those only the ones that are not expected
/// to end in the profiler anyway), cancel and its settings (packing_watch.hpp): a newcomer that is
/// evicted restarts and is never packed again.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <schedmate/scheduler.hpp>
#include <set>

#include "base/text.hpp"
#include "policy/defaults.hpp"
#include "policy/forecast.hpp"
#include "policy/lucid_profiler.hpp"
#include "policy/packing_watch.hpp"
#include "policy/partners.hpp"

namespace schedmate::policy {
namespace {

enum class Packing : std::uint8_t { automatic, on, off };

struct LucidOptions {
  Packing packing = Packing::automatic;
  int score_limit = lucid::score_limit;
  CancelOptions cancel;
};

class Lucid {
 public:
  Lucid(LucidOptions options, SharingSwitch sharing)
      : options_(options), sharing_(std::move(sharing)), watch_(options.cancel) {}

  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.adopted) adopt(view, id);
    for (const JobId id : view.ended) forget(view, id);
    for (const JobId id : view.withdrawn) {
      queue_.erase({places_.at(id).priority, id});
      places_.erase(id);
    }
    for (const std::uint32_t node : view.nodes) follow(view, node);
    for (const JobId id : view.arrived) enter(view, id);
    while (const auto pair = watch_.next_to_cancel(view)) cancel(view, plan, *pair);
    if (packing(view.now)) {
      serve_all(view, plan);
    } else {
      serve_in_order(view, plan);
    }
    if (!queue_.empty() && options_.packing == Packing::automatic) {
      plan.wake_at(sharing_.next_change(view.now));
    }
    plan.wake_at(watch_.next());
  }

 private:
  struct Place {
    double priority = 0;
    std::uint64_t order = 0;  // of its start
    std::optional<JobId> partner;
    bool evicted = false;          // never to be packed again
    Partners::Mark offered = 0;    // its own offer to share
    Partners::Mark looked_at = 0;  // nobody up to there can be its partner
  };

  [[nodiscard]] bool packing(SimTime now) const {
    return options_.packing == Packing::automatic ? sharing_.on(now)
                                                  : options_.packing == Packing::on;
  }

  static double priority_of(const JobInfo& job) {
    const double estimate = job.estimate.count();
    return (estimate < 0 ? lucid::negative_estimate_s : estimate) * job.gpus;
  }

  void enter(const View& view, JobId id) {
    Place& place = places_[id];
    place.priority = priority_of(view.job(id));
    queue_.emplace(place.priority, id);
  }

  /// Of two that share GPUs the later one is the newcomer.
  void adopt(const View& view, JobId id) {
    places_[id] = {.priority = priority_of(view.job(id)), .partner = {}};
    const Slice& first = view.cluster.allocation(id).front();
    const auto residents = view.cluster.residents(first.node, std::countr_zero(first.gpus));
    const auto other = std::ranges::find_if(
        residents, [&](JobId each) { return each != id && places_.contains(each); });
    places_.at(id).order = ++order_;
    if (residents.size() == 1 && !view.job(id).alone) offer(view, id);
    if (other == residents.end()) return;
    places_.at(id).partner = *other;
    places_.at(*other).partner = id;
    watch_.packed(view, id, *other);
  }

  /// Who runs on a node that is drained is joined by nobody, until it is up again.
  void follow(const View& view, std::uint32_t node) {
    for (const JobId id : view.cluster.jobs_on(node)) {
      const Place& place = places_.at(id);
      partners_.withdraw(view.job(id).gpus, place.offered);
      const bool shares = place.partner.has_value() || view.job(id).sharing;
      if (!shares && !view.job(id).alone && !place.evicted) offer(view, id);
    }
  }

  // Its partner may be shared again if the driver says that it has its GPUs to itself.
  void forget(const View& view, JobId id) {
    const Place place = places_.at(id);
    places_.erase(id);
    partners_.withdraw(view.job(id).gpus, place.offered);
    if (!place.partner) return;
    const JobId other = *place.partner;
    Place* const theirs = places_.find(other);  // null: it has ended
    if (theirs == nullptr || theirs->partner != id) return;
    if (view.job(other).running && !view.job(other).sharing) {
      theirs->partner.reset();
      offer(view, other);
    }
  }

  void cancel(const View& view, Plan& plan, const PackingWatch::Pair& pair) {
    Place& newcomer = places_.at(pair.newcomer);
    Place& resident = places_.at(pair.resident);
    plan.evict(pair.newcomer);
    newcomer.partner.reset();
    newcomer.evicted = true;
    resident.partner.reset();
    offer(view, pair.resident);
    queue_.emplace(newcomer.priority, pair.newcomer);
  }

  void started(const View& view, JobId id, bool alone) {
    places_.at(id).order = ++order_;
    if (!alone) return;
    watch_.started_alone(view, id);
    if (!view.job(id).alone && !places_.at(id).evicted) offer(view, id);
  }

  void offer(const View& view, JobId id) {
    const JobInfo& job = view.job(id);
    if (job.profile == nullptr || job.gpus > job.profile->packed_gpus) return;
    const auto is_up = [&](const Slice& slice) { return view.cluster.usable(slice.node); };
    if (!std::ranges::all_of(view.cluster.allocation(id), is_up)) return;
    Place& place = places_.at(id);
    place.offered = partners_.offer(
        job.gpus,
        {id, place.order, place.priority, job.profile->memory_mib, job.profile->sharing_score});
  }

  void serve_in_order(const View& view, Plan& plan) {
    while (!queue_.empty() &&
           plan.start(queue_.begin()->second, view.job(queue_.begin()->second).gpus)) {
      started(view, queue_.begin()->second, true);
      queue_.erase(queue_.begin());
    }
  }

  void serve_all(const View& view, Plan& plan) {
    for (auto next = queue_.begin(); next != queue_.end();) {
      const JobId id = next->second;
      const bool served = pack(view, plan, id) || start_alone(view, plan, id);
      next = served ? queue_.erase(next) : std::next(next);
    }
  }

  bool start_alone(const View& view, Plan& plan, JobId id) {
    if (!plan.start(id, view.job(id).gpus)) return false;
    started(view, id, true);
    return true;
  }

  bool pack(const View& view, Plan& plan, JobId id) {
    const JobInfo& job = view.job(id);
    if (job.profile == nullptr || job.gpus > job.profile->packed_gpus) return false;
    if (job.alone || places_.at(id).evicted) return false;
    const double memory_left = view.cluster.gpu_memory_mib() - job.profile->memory_mib;
    const int score_left = options_.score_limit - job.profile->sharing_score;
    Place& place = places_.at(id);
    const auto other =
        partners_.take_first(job.gpus, place.looked_at, [&](const Partners::Resident& resident) {
          return resident.memory_mib < memory_left && resident.sharing_score <= score_left &&
                 place.priority <= lucid::time_awareness * resident.priority;
        });
    if (!other) return false;
    plan.start_with(id, *other);
    // NOLINTNEXTLINE(bugprone-optional-value-conversion): it has one
    place.partner = *other;
    places_.at(*other).partner = id;
    started(view, id, false);
    watch_.packed(view, id, *other);
    return true;
  }

  LucidOptions options_;
  SharingSwitch sharing_;
  PackingWatch watch_;
  std::set<std::pair<double, JobId>> queue_;
  Partners partners_;  // who has its GPUs to itself
  JobMap<Place> places_;
  std::uint64_t order_ = 0;
};

/// The VCs that lend the profiler a node each, as the user named them.
Result<std::vector<std::string>> named_lenders(const ClusterSpec& cluster,
                                               const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const PartitionSpec& vc : cluster.partitions) names.emplace_back(vc.name);
  std::vector<std::string> lenders;
  for (const std::string_view name : split(wanted, '+')) {
    if (std::ranges::find(names, name) == names.end()) {
      return fail(ErrorCode::not_found, unknown_name("VC in lenders=", name, names));
    }
    if (std::ranges::find(lenders, name) != lenders.end()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("lenders={}: a VC can lend only one node", wanted));
    }
    lenders.emplace_back(name);
  }
  return lenders;
}

/// Those of the released code where they exist, else the largest ones, first listed first.
std::vector<std::string> default_lenders(const ClusterSpec& cluster, int count) {
  std::vector<std::string> lenders;
  for (const std::string_view name : {"vc8Gr", "vcefl"}) {
    if (std::ranges::find(cluster.partitions, name, &PartitionSpec::name) !=
        cluster.partitions.end()) {
      lenders.emplace_back(name);
    }
  }
  if (!lenders.empty()) return lenders;
  std::vector<PartitionSpec> by_size = cluster.partitions;
  std::ranges::stable_sort(by_size, std::greater{}, &PartitionSpec::nodes);
  for (std::size_t i = 0; i < by_size.size() && i < static_cast<std::size_t>(count); ++i) {
    if (by_size[i].nodes > 1) lenders.push_back(by_size[i].name);
  }
  return lenders;
}

Result<std::optional<ProfilerStage>> make_profiler(const PolicyInput& input,
                                                   PolicyOptions& settings) {
  const auto wanted = settings.take_flag("profiler", true);
  if (!wanted) return tl::unexpected(wanted.error());
  const auto time = settings.take_integer("t_prof_s", lucid::profiling_time.count());
  if (!time) return tl::unexpected(time.error());
  const auto nodes = settings.take_integer("profiler_nodes", lucid::profiler_nodes);
  if (!nodes) return tl::unexpected(nodes.error());
  const auto elastic = settings.take_flag("elastic", true);
  if (!elastic) return tl::unexpected(elastic.error());
  const std::string bypass = settings.take_text("bypass", "none");
  if (bypass != "none" && bypass != "outlasting" && bypass != "all") {
    return fail(ErrorCode::unsupported,
                fmt::format("bypass={}: must be none, outlasting or all", bypass));
  }
  if (*time < 1 || *nodes < 1 || *nodes > 1000) {
    return fail(ErrorCode::unsupported, "t_prof_s must be at least 1, profiler_nodes 1 to 1000");
  }
  const int count = static_cast<int>(*nodes);
  const std::string named = settings.take_text("lenders", "");
  const auto lenders =
      named.empty() ? default_lenders(input.cluster, count) : named_lenders(input.cluster, named);
  if (!lenders) return tl::unexpected(lenders.error());
  if (!*wanted) return std::optional<ProfilerStage>();
  ProfilerStage stage;
  stage.time = Seconds(*time);
  stage.max_gpus = count * lucid::profiled_gpus_per_node;
  stage.nodes = input.cluster.partitions.front();
  stage.nodes.name = "profiler";
  stage.nodes.nodes = count;
  stage.nodes.round = Seconds(1);
  stage.grows = *elastic;
  stage.lenders = *lenders;
  if (bypass == "outlasting") stage.bypass = ProfilerStage::Bypass::outlasting;
  if (bypass == "all") stage.bypass = ProfilerStage::Bypass::all;
  if (input.defects.node_echo) stage.echo_vc = "vcYVn";
  stage.decide = least_gpus_first({*elastic, stage.max_gpus * 5.0, input.forecast});
  return std::optional<ProfilerStage>(std::move(stage));
}

Result<LucidOptions> parse_lucid(PolicyOptions& settings) {
  LucidOptions options;
  const std::string packing = settings.take_text("packing", "auto");
  if (packing != "auto" && packing != "on" && packing != "off") {
    return fail(ErrorCode::unsupported,
                fmt::format("packing={}: must be auto, on or off", packing));
  }
  if (packing != "auto") options.packing = packing == "on" ? Packing::on : Packing::off;
  const auto limit = settings.take_integer("score_limit", lucid::score_limit);
  if (!limit) return tl::unexpected(limit.error());
  options.score_limit = static_cast<int>(*limit);
  const auto cancel = take_cancel_options(settings);
  if (!cancel) return tl::unexpected(cancel.error());
  options.cancel = *cancel;
  return options;
}

}  // namespace

Result<Scheduler> make_lucid(const PolicyInput& input, PolicyOptions& settings) {
  if (input.cluster.partitions.empty()) return fail(ErrorCode::invalid, "the cluster has no VC");
  const auto options = parse_lucid(settings);
  if (!options) return tl::unexpected(options.error());
  auto profiler = make_profiler(input, settings);
  if (!profiler) return tl::unexpected(profiler.error());
  Scheduler scheduler;
  scheduler.decide =
      Lucid(*options, SharingSwitch(input.forecast, lucid::quiet_jobs, lucid::switch_interval));
  scheduler.profiler = std::move(*profiler);
  scheduler.estimator = "last_k";
  scheduler.counts_down = true;
  scheduler.packs = true;
  return scheduler;
}

}  // namespace schedmate::policy
