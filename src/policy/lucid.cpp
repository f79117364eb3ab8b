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
/// With SchedMate (paper 4.1; the variant lucid+sm): reserve: the first in rank that cannot be
/// placed within `horizon_s` has a reservation, as the head has under EASY, and packing off no
/// longer means head of line. pack=pays: free GPUs first; a pair only where both ends are expected
/// sooner, in sum, than if the newcomer waited for GPUs of its own, at the speeds published of
/// Lucid's pairs. ageing: the order is the estimate less so many times the wait, not estimate x
/// GPUs. bypass (none; all: jobs whose GPU use similar jobs predict are not profiled; outlasting:
/// of those only the ones that are not expected to end in the profiler anyway), cancel and its
/// settings (packing_watch.hpp): a newcomer that is evicted restarts and is never packed again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <schedmate/scheduler.hpp>
#include <set>

#include "base/text.hpp"
#include "policy/defaults.hpp"
#include "policy/forecast.hpp"
#include "policy/lucid_profiler.hpp"
#include "policy/packing_watch.hpp"
#include "policy/paired_times.hpp"
#include "policy/partners.hpp"

namespace schedmate::policy {
namespace {

enum class Packing : std::uint8_t { automatic, on, off };

struct LucidOptions {
  Packing packing = Packing::automatic;
  int score_limit = lucid::score_limit;
  CancelOptions cancel;
  bool reserve = false;     ///< the first in rank that cannot be placed has a reservation
  Seconds horizon{86'400};  ///< a start that is later than that is not kept free
  bool pays = false;        ///< free GPUs first, and packed only where both ends come sooner
  double ageing = 0;  ///< seconds of the estimate for each of waiting; 0: estimate x GPUs orders
};

class Lucid {
 public:
  Lucid(LucidOptions options, SharingSwitch sharing)
      : options_(options), sharing_(std::move(sharing)), watch_(options.cancel) {}

  void operator()(const View& view, Plan& plan) {
    if (plans() && !times_) times_.emplace(view.cluster);
    if (times_) times_->follow_size(view.cluster);
    for (const JobId id : view.adopted) adopt(view, id);
    for (const JobId id : view.ended) forget(view, id);
    for (const JobId id : view.withdrawn) {
      queue_.erase({places_.at(id).rank, id});
      places_.erase(id);
    }
    for (const std::uint32_t node : view.nodes) follow(view, node);
    for (const JobId id : view.arrived) enter(view, id);
    bool is_due = view.now < watch_.next() || view.now >= serve_at_ || has_news(view);
    for (; const auto pair = watch_.next_to_cancel(view); is_due = true) cancel(view, plan, *pair);
    if (is_due) serve(view, plan);
    plan.wake_at(std::min(serve_at_, watch_.next()));
  }

 private:
  /// Where it is called for its watch alone it serves nobody: what is best changes with time, and
  /// nobody's turn is to hang on when a pair is looked at.
  static bool has_news(const View& view) {
    return !view.adopted.empty() || !view.ended.empty() || !view.withdrawn.empty() ||
           !view.nodes.empty() || !view.arrived.empty();
  }

  void serve(const View& view, Plan& plan) {
    serve_at_ = never;
    if (plans()) {
      times_->expect_overdue(view);
      serve_reserving(view, plan);
    } else if (packing(view.now)) {
      serve_all(view, plan);
    } else {
      serve_in_order(view, plan);
    }
    if (!queue_.empty() && options_.packing == Packing::automatic)
      serve_at_ = std::min(serve_at_, sharing_.next_change(view.now));
  }

  struct Place {
    double priority = 0;
    double rank = 0;          // in the queue
    std::uint64_t order = 0;  // of its start
    std::optional<JobId> partner;
    bool evicted = false;          // never to be packed again
    Partners::Mark offered = 0;    // its own offer to share
    Partners::Mark looked_at = 0;  // nobody up to there can be its partner
  };

  [[nodiscard]] bool plans() const { return options_.reserve || options_.pays; }
  [[nodiscard]] bool packing(SimTime now) const {
    return options_.packing == Packing::automatic ? sharing_.on(now)
                                                  : options_.packing == Packing::on;
  }

  static double priority_of(const JobInfo& job) {
    const double estimate = job.estimate.count();
    return (estimate < 0 ? lucid::negative_estimate_s : estimate) * job.gpus;
  }

  [[nodiscard]] double rank_of(const JobInfo& job) const {
    if (options_.ageing <= 0) return priority_of(job);
    return static_cast<double>(expected_run(job).count()) +
           options_.ageing * static_cast<double>(seconds_of(job.entered));
  }

  void enter(const View& view, JobId id) {
    Place& place = places_[id];
    place.priority = priority_of(view.job(id));
    place.rank = rank_of(view.job(id));
    queue_.emplace(place.rank, id);
  }

  /// Of two that share GPUs the later one is the newcomer.
  void adopt(const View& view, JobId id) {
    places_[id] = {
        .priority = priority_of(view.job(id)), .rank = rank_of(view.job(id)), .partner = {}};
    const Slice& first = view.cluster.allocation(id).front();
    const auto residents = view.cluster.residents(first.node, std::countr_zero(first.gpus));
    const auto other = std::ranges::find_if(
        residents, [&](JobId each) { return each != id && places_.contains(each); });
    places_.at(id).order = ++order_;
    if (times_ && other == residents.end())
      times_->start(id, view.cluster.allocation(id),
                    view.now + expected_left(view.job(id), view.now));
    if (residents.size() == 1 && !view.job(id).alone) offer(view, id);
    if (other == residents.end()) return;
    places_.at(id).partner = *other;
    places_.at(*other).partner = id;
    if (times_) join(view, id, *other);
    watch_.packed(view, id, *other);
  }

  /// Who runs on a node that is drained is joined by nobody, until it is up again.
  void follow(const View& view, std::uint32_t node) {
    if (times_) times_->follow(view.cluster, node);
    for (const JobId id : view.cluster.jobs_on(node)) {
      const Place& place = places_.at(id);
      partners_.withdraw(view.job(id).gpus, place.offered);
      const bool shares = place.partner.has_value() || view.job(id).sharing;
      if (!shares && !view.job(id).alone && !place.evicted) offer(view, id);
    }
  }

  // Its partner may be shared again if the driver says that it has its GPUs to itself.
  void forget(const View& view, JobId id) {
    watch_.ended(id);
    const Place place = places_.at(id);
    places_.erase(id);
    if (times_) times_->leave(id, view.cluster);
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
    if (times_) times_->leave(pair.newcomer, view.cluster);
    newcomer.partner.reset();
    newcomer.evicted = true;
    resident.partner.reset();
    offer(view, pair.resident);
    queue_.emplace(newcomer.rank, pair.newcomer);
  }

  void started(const View& view, JobId id, bool alone) {
    places_.at(id).order = ++order_;
    if (!alone) return;
    if (times_)
      times_->start(id, view.cluster.allocation(id), view.now + expected_run(view.job(id)));
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

  /// In order of rank: on free GPUs, else packed; behind the first that finds neither, only what is
  /// not expected to move its start.
  void serve_reserving(const View& view, Plan& plan) {
    const bool packs = packing(view.now);
    std::optional<Reservation> reserved;
    for (auto next = queue_.begin(); next != queue_.end();) {
      const JobId id = next->second;
      const int gpus = view.job(id).gpus;
      const bool served = options_.pays ? start_beside(view, plan, id, reserved) ||
                                              (packs && pack_if_pays(view, plan, id, reserved))
                                        : (packs && pack_beside(view, plan, id, reserved)) ||
                                              start_beside(view, plan, id, reserved);
      if (!served && !reserved && options_.reserve) {
        const SimTime at = times_->earliest(gpus);
        if (at != never && at <= view.now + options_.horizon) reserved = Reservation{gpus, at};
      }
      next = served ? queue_.erase(next) : std::next(next);
    }
    if (reserved)
      if (const auto* end = times_->next_end()) serve_at_ = std::min(serve_at_, end->at);
  }

  bool start_beside(const View& view, Plan& plan, JobId id,
                    const std::optional<Reservation>& reserved) {
    return (!reserved || keeps(view, *reserved, id)) && start_alone(view, plan, id);
  }

  [[nodiscard]] bool keeps(const View& view, const Reservation& reserved, JobId id) {
    const JobInfo& job = view.job(id);
    return view.now + expected_run(job) <= reserved.at ||
           times_->may_outlast(reserved, view.cluster, job.gpus);
  }

  void join(const View& view, JobId newcomer, JobId resident) {
    times_->join({.newcomer = newcomer,
                  .resident = resident,
                  .newcomer_until = view.now + expected_run(view.job(newcomer)),
                  .resident_until = times_->until(resident)});
  }

  bool start_alone(const View& view, Plan& plan, JobId id) {
    if (!plan.start(id, view.job(id).gpus)) return false;
    started(view, id, true);
    return true;
  }

  bool pack(const View& view, Plan& plan, JobId id) {
    return pack_where(view, plan, id, [](JobId) { return true; });
  }

  template <class Accepts>
  bool pack_where(const View& view, Plan& plan, JobId id, const Accepts& accepts) {
    const JobInfo& job = view.job(id);
    if (job.profile == nullptr || job.gpus > job.profile->packed_gpus) return false;
    if (job.alone || places_.at(id).evicted) return false;
    const double memory_left = view.cluster.gpu_memory_mib() - job.profile->memory_mib;
    const int score_left = options_.score_limit - job.profile->sharing_score;
    Place& place = places_.at(id);
    if (plans()) place.looked_at = 0;  // what pays changes with time
    const auto other =
        partners_.take_first(job.gpus, place.looked_at, [&](const Partners::Resident& resident) {
          return resident.memory_mib < memory_left && resident.sharing_score <= score_left &&
                 place.priority <= lucid::time_awareness * resident.priority &&
                 accepts(resident.id);
        });
    if (!other) return false;
    plan.start_with(id, *other);
    // NOLINTNEXTLINE(bugprone-optional-value-conversion): it has one
    place.partner = *other;
    places_.at(*other).partner = id;
    if (times_) join(view, id, *other);
    started(view, id, false);
    watch_.packed(view, id, *other);
    return true;
  }

  bool pack_beside(const View& view, Plan& plan, JobId id,
                   const std::optional<Reservation>& reserved) {
    return pack_where(view, plan, id, [&](JobId other) {
      const SimTime end = view.now + expected_run(view.job(id));
      return !reserved || end <= reserved->at || end <= times_->until(other);
    });
  }

  /// Speeds of a pair by the sum of its sharing scores, as published of Lucid's pairs.
  struct Speeds {
    double newcomer, resident;
  };
  static Speeds speeds_of(int scores) {
    constexpr std::array<Speeds, 5> published{
        {{1, 0.99}, {1, 0.98}, {0.94, 0.95}, {0.82, 0.9}, {0.7, 0.81}}};
    return published[static_cast<std::size_t>(std::clamp(scores, 0, 4))];
  }

  bool pack_if_pays(const View& view, Plan& plan, JobId id,
                    const std::optional<Reservation>& reserved) {
    const JobInfo& job = view.job(id);
    if (job.profile == nullptr) return false;
    const auto run_s = static_cast<double>(expected_run(job).count());
    const SimTime free_at = times_->earliest(job.gpus);
    const bool comes = free_at != never;  // GPUs of its own
    const auto wait_s =
        comes && free_at > view.now ? static_cast<double>((free_at - view.now).count()) : 0.0;
    return pack_where(view, plan, id, [&](JobId other) {
      const JobInfo& theirs = view.job(other);
      if (theirs.profile == nullptr) return false;
      const auto left_s = static_cast<double>(expected_left(theirs, view.now).count());
      const Speeds speed = speeds_of(job.profile->sharing_score + theirs.profile->sharing_score);
      const double together = std::min(run_s / speed.newcomer, left_s / speed.resident);
      const double own_end = together + (run_s - together * speed.newcomer);
      const double their_end = together + (left_s - together * speed.resident);
      const bool moves = reserved && own_end > left_s &&
                         view.now + Seconds(static_cast<std::int64_t>(own_end)) > reserved->at;
      return !moves && (!comes || own_end + their_end < wait_s + run_s + left_s);
    });
  }

  LucidOptions options_;
  SharingSwitch sharing_;
  PackingWatch watch_;
  SimTime serve_at_ = never;  // even if nothing happens
  std::set<std::pair<double, JobId>> queue_;
  std::optional<PairedTimes> times_;  // with plans(), from the first call on
  Partners partners_;                 // who has its GPUs to itself
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
  if (bypass != "none" && bypass != "outlasting" && bypass != "all" && bypass != "free") {
    return fail(ErrorCode::unsupported,
                fmt::format("bypass={}: must be none, outlasting, all or free", bypass));
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
  if (bypass == "free") stage.bypass = ProfilerStage::Bypass::free;
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

/// What SchedMate adds to the queue.
Result<void> take_queue_options(PolicyOptions& settings, LucidOptions& options) {
  const auto reserve = settings.take_flag("reserve", false);
  if (!reserve) return tl::unexpected(reserve.error());
  options.reserve = *reserve;
  const auto horizon = settings.take_integer("horizon_s", options.horizon.count());
  if (!horizon) return tl::unexpected(horizon.error());
  if (*horizon < 0)
    return fail(ErrorCode::unsupported, fmt::format("horizon_s={}: may not be negative", *horizon));
  options.horizon = Seconds(*horizon);
  const std::string pack = settings.take_text("pack", "first");
  if (pack != "first" && pack != "pays")
    return fail(ErrorCode::unsupported, fmt::format("pack={}: must be first or pays", pack));
  options.pays = pack == "pays";
  const auto ageing = settings.take_number("ageing", 0);
  if (!ageing) return tl::unexpected(ageing.error());
  constexpr double most_ageing = 1e6;
  if (!(*ageing >= 0 && *ageing <= most_ageing))
    return fail(ErrorCode::unsupported, fmt::format("ageing={}: must be 0 to a million", *ageing));
  options.ageing = *ageing;
  return {};
}

}  // namespace

Result<Scheduler> make_lucid(const PolicyInput& input, PolicyOptions& settings) {
  if (input.cluster.partitions.empty()) return fail(ErrorCode::invalid, "the cluster has no VC");
  auto options = parse_lucid(settings);
  if (!options) return tl::unexpected(options.error());
  if (auto ok = take_queue_options(settings, *options); !ok) return tl::unexpected(ok.error());
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
