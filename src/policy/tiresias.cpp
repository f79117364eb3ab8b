// SPDX-License-Identifier: Apache-2.0
/// tiresias: discretised two-dimensional least attained service (NSDI'19), preemptive.
///
/// Attained service = GPUs x run time. A job is in the highest queue until its service exceeds the
/// first threshold, in the next until it exceeds the second, and so on. Order: queue, then
/// submission time; on equality running before waiting, then order of start or of queueing. Quota
/// walk and fragmentation as in srtf. Decides only at multiples of `interval_s` on the trace's
/// clock; run times are never looked at. Settings: thresholds=18000[+72000...] GPU-seconds,
/// interval_s=60, promote=0: a waiting job that has waited for more than `promote` times its run
/// time goes back to the highest queue (the paper's starvation knob; 0 = never, as released).
///
/// With SchedMate (the variant tiresias+sm): duration_aware. A job that is all but sure to exceed a
/// threshold (nine of ten like it do) begins in the queue behind it; and a running one is not
/// preempted when it is expected to end before the first of those that would start could, the cost
/// of the preemption included. A job beyond its estimate is expected to run as long again. Within a
/// queue it goes as if submitted `defer` (5) times its expected run time later.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <schedmate/scheduler.hpp>

#include "base/text.hpp"
#include "policy/leveled_queue.hpp"

namespace schedmate::policy {
namespace {

struct TiresiasOptions {
  std::vector<std::int64_t> thresholds;
  Seconds interval{60};
  double promote = 0;
  bool duration_aware = false;
  double defer = 5;
};

class Tiresias {
 public:
  explicit Tiresias(TiresiasOptions options) : options_(std::move(options)) {}

  void operator()(const View& view, Plan& plan) {
    jobs_.take_in(
        view, [&](JobId id) { return key(view, id); },
        [&](JobId id) { expect_demotion(view, id, view.now); });
    if (round_up(view.now, options_.interval) == view.now) decide(view, plan);
    if (jobs_.pending()) plan.wake_at(round_up(view.now + Seconds(1), options_.interval));
    for (Jobs::Changes* changes : {&demotions_, &promotions_})
      if (const auto at = changes->next(jobs_)) plan.wake_at(round_up(*at, options_.interval));
  }

 private:
  struct Track {
    Seconds forgiven{0};  // run time before the last promotion
  };
  using Jobs = LeveledQueue<Track>;

  [[nodiscard]] std::int64_t service(const View& view, JobId id) const {
    const JobInfo& job = view.job(id);
    return job.gpus * (job.run_time(view.now) - jobs_.track(id).forgiven).count();
  }
  [[nodiscard]] std::size_t level(const View& view, JobId id) const {
    const std::int64_t needed = std::max(service(view, id), least_service(view.job(id)));
    std::size_t level = 0;
    while (level < options_.thresholds.size() && needed > options_.thresholds[level]) ++level;
    return level;
  }
  [[nodiscard]] bool is_advised(const JobInfo& job) const {
    constexpr double mostly = 0.5;
    return options_.duration_aware && job.advised >= mostly;
  }
  /// Service that the job is all but sure to need in all, GPU seconds; 0 when nobody knows.
  [[nodiscard]] std::int64_t least_service(const JobInfo& job) const {
    constexpr double most = 1e15;
    if (!is_advised(job) || !job.distribution) return 0;
    const double least_s = job.distribution->p10.count();
    return static_cast<std::int64_t>(std::clamp(least_s * job.gpus, 0.0, most));
  }
  /// Run time that advice expects to be left, seconds; nothing when there is none.
  [[nodiscard]] std::optional<double> left_s(const View& view, JobId id) const {
    const JobInfo& job = view.job(id);
    if (!is_advised(job)) return std::nullopt;
    const double left = job.remaining(view.now).count();
    return left > 0 ? left : FractionalSeconds(job.run_time(view.now)).count();
  }

  /// Whether to take `running` off its GPUs for the sake of `starting` shortens the sum of waits.
  [[nodiscard]] bool pays(const View& view, JobId running, std::span<const JobId> starting) const {
    const auto left = left_s(view, running);
    if (!left) return true;
    const auto cost = FractionalSeconds(view.preemption.of(view.job(running).gpus)).count();
    return std::ranges::any_of(starting, [&](JobId id) {
      const auto theirs = left_s(view, id);
      return !theirs || *theirs + cost < *left;
    });
  }
  // Queue and submission time in one number: exact, as both are whole and below 2^53 together.
  [[nodiscard]] double key(const View& view, JobId id) const {
    const JobInfo& job = view.job(id);
    constexpr double longest_s = 1e8;
    const double later_s =
        is_advised(job) ? options_.defer * std::clamp(job.estimate.count(), 0.0, longest_s) : 0;
    return static_cast<double>(level(view, id)) * 1e13 +
           static_cast<double>(seconds_of(job.submit)) + std::floor(later_s);
  }

  // When the running job's service will exceed its next threshold.
  void expect_demotion(const View& view, JobId id, SimTime run_since) {
    const std::size_t queue = level(view, id);
    if (queue == options_.thresholds.size()) return;
    const std::int64_t missing = options_.thresholds[queue] - service(view, id);
    const std::int64_t run = missing / view.job(id).gpus + 1;
    demotions_.expect(jobs_, id, run_since + Seconds(run));
  }

  void expect_promotion(const View& view, JobId id) {
    const double patience =
        options_.promote * FractionalSeconds(view.job(id).run_time(view.now)).count();
    if (options_.promote <= 0 || level(view, id) == 0) return;
    const auto wait = Seconds(static_cast<std::int64_t>(std::floor(patience)) + 1);
    promotions_.expect(jobs_, id, view.now + wait);
  }

  void decide(const View& view, Plan& plan) {
    demotions_.take(jobs_, view.now, [&](JobId id) {
      jobs_.queue.rekey(id, key(view, id));
      expect_demotion(view, id, view.now);
    });
    promotions_.take(jobs_, view.now, [&](JobId id) {
      jobs_.track(id).forgiven = view.job(id).run_time(view.now);
      jobs_.queue.rekey(id, key(view, id));
    });
    const auto& choice =
        jobs_.queue.choose(view.cluster.total_gpus() + view.cluster.draining_gpus(), {});
    for (const JobId id : choice.preempt) {
      if (!pays(view, id, choice.start)) continue;
      plan.preempt(id);
      jobs_.wait(id, view.job(id).gpus, key(view, id));
      expect_promotion(view, id);
    }
    bool changed = !choice.preempt.empty();
    for (const JobId id : choice.start) {
      if (!plan.start(id, view.job(id).gpus)) continue;
      changed = true;
      jobs_.run(id, view.job(id).gpus, key(view, id));
      expect_demotion(view, id, view.now);
    }
    jobs_.set_pending(changed);
  }

  TiresiasOptions options_;
  Jobs jobs_;
  Jobs::Changes demotions_, promotions_;
};

Result<std::vector<std::int64_t>> parse_thresholds(const std::string& text) {
  std::vector<std::int64_t> thresholds;
  for (const std::string_view part : split(text, '+')) {
    const auto value = parse_number<std::int64_t>(part);
    if (!value || *value <= (thresholds.empty() ? 0 : thresholds.back())) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("thresholds={}: must be increasing whole GPU-seconds joined by +", text));
    }
    thresholds.push_back(*value);
  }
  return thresholds;
}

}  // namespace

Result<Scheduler> make_tiresias(const PolicyInput&, PolicyOptions& settings) {
  auto thresholds = parse_thresholds(settings.take_text("thresholds", "18000"));
  if (!thresholds) return tl::unexpected(thresholds.error());
  const auto interval = settings.take_integer("interval_s", 60);
  if (!interval) return tl::unexpected(interval.error());
  if (*interval < 1) return fail(ErrorCode::unsupported, "interval_s: must be at least 1");
  const auto promote = settings.take_number("promote", 0);
  if (!promote) return tl::unexpected(promote.error());
  const auto aware = settings.take_flag("duration_aware", false);
  if (!aware) return tl::unexpected(aware.error());
  Scheduler scheduler;
  const auto defer = settings.take_number("defer", TiresiasOptions().defer);
  if (!defer) return tl::unexpected(defer.error());
  constexpr double most_defer = 1000;
  if (!(*defer >= 0 && *defer <= most_defer))
    return fail(ErrorCode::unsupported,
                fmt::format("defer={}: must be 0 to {}", *defer, most_defer));
  scheduler.decide =
      Tiresias({std::move(*thresholds), Seconds(*interval), *promote, *aware, *defer});
  scheduler.uses_estimates = *aware;
  if (*aware) scheduler.estimator = "typical";
  scheduler.counts_down = true;
  return scheduler;
}

}  // namespace schedmate::policy
