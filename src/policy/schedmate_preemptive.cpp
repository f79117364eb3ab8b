// SPDX-License-Identifier: Apache-2.0
/// schedmate_preemptive: schedmate for hosts that can checkpoint: what is likely to end soonest
/// goes first, and may stop others.
///
/// Order: Gittins' index (gittins.hpp) of the run time, given what a job has run so far, in levels
/// a factor `levels` apart; within a level those that run stay, then by submission. The run time is
/// taken as log-normal around the estimate, with the standard deviation `spread` of its logarithm.
/// So a job that outlives its estimate sinks, as under Tiresias, and one that is expected to be
/// long begins lower. Quota walk and fragmentation as in srtf. Decides at multiples of `interval_s`
/// on the trace's clock. A preempted job keeps its progress and pays for the restart
/// (View::preemption). With checkpoints=false nothing could be kept: then it is schedmate, with its
/// settings, and preempts nobody. Settings: spread=3, levels=2, interval_s=10, checkpoints=true.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <schedmate/scheduler.hpp>

#include "policy/gittins.hpp"
#include "policy/leveled_queue.hpp"

namespace schedmate::policy {

Result<Scheduler> make_schedmate(const PolicyInput& input, PolicyOptions& settings);

namespace {

struct PreemptiveOptions {
  double spread = 3;
  double levels = 2;
  Seconds interval{10};
};

class Preemptive {
 public:
  explicit Preemptive(PreemptiveOptions options)
      : options_(options), table_(options.spread), log_levels_(std::log(options.levels)) {}

  void operator()(const View& view, Plan& plan) {
    jobs_.take_in(
        view, [&](JobId id) { return key(view, id); }, [&](JobId id) { expect_change(view, id); });
    if (round_up(view.now, options_.interval) == view.now) decide(view, plan);
    if (jobs_.pending()) plan.wake_at(round_up(view.now + Seconds(1), options_.interval));
    if (const auto at = changes_.next(jobs_)) plan.wake_at(round_up(*at, options_.interval));
  }

 private:
  struct Track {
    double level = 0;
  };
  using Jobs = LeveledQueue<Track>;

  [[nodiscard]] double level_after(const JobInfo& job, double run_s) const {
    constexpr double longest_s = 1e9;
    const double estimate_s = std::clamp(job.estimate.count(), 1.0, longest_s);
    return std::floor(std::log(std::max(table_.rank(estimate_s, run_s), 1.0)) / log_levels_);
  }
  // Level and submission time in one number: exact, as both are whole and below 2^53 together.
  double key(const View& view, JobId id) {
    constexpr double level_step = 1e12;
    const JobInfo& job = view.job(id);
    Track& track = jobs_.track(id);
    track.level = level_after(job, static_cast<double>(job.run_time(view.now).count()));
    return track.level * level_step + static_cast<double>(seconds_of(job.submit));
  }

  /// When the running job's level will be another one, looked at in steps of a tenth.
  void expect_change(const View& view, JobId id) {
    const JobInfo& job = view.job(id);
    const double level = jobs_.track(id).level;
    const double so_far_s = static_cast<double>(job.run_time(view.now).count());
    constexpr double farther = 1.1, longest_s = 1e9;
    double run_s = std::max(so_far_s, static_cast<double>(options_.interval.count()));
    while (run_s < longest_s && level_after(job, run_s) == level) run_s *= farther;
    if (run_s >= longest_s) return;
    const auto wait = Seconds(static_cast<std::int64_t>(std::ceil(run_s - so_far_s)));
    changes_.expect(jobs_, id, view.now + std::max(wait, Seconds(1)));
  }

  void decide(const View& view, Plan& plan) {
    changes_.take(jobs_, view.now, [&](JobId id) {
      jobs_.queue.rekey(id, key(view, id));
      expect_change(view, id);
    });
    constexpr double within_level = -5e11;
    const auto& choice = jobs_.queue.choose(
        view.cluster.total_gpus() + view.cluster.draining_gpus(), {within_level, false});
    bool changed = !choice.preempt.empty();
    for (const JobId id : choice.preempt) {
      plan.preempt(id);
      jobs_.wait(id, view.job(id).gpus, key(view, id));
    }
    for (const JobId id : choice.start) {
      if (!plan.start(id, view.job(id).gpus)) continue;
      changed = true;
      jobs_.run(id, view.job(id).gpus, key(view, id));
      expect_change(view, id);
    }
    jobs_.set_pending(changed);
  }

  PreemptiveOptions options_;
  GittinsTable table_;
  double log_levels_;
  Jobs jobs_;
  Jobs::Changes changes_;
};

}  // namespace

Result<Scheduler> make_schedmate_preemptive(const PolicyInput& input, PolicyOptions& settings) {
  const auto checkpoints = settings.take_flag("checkpoints", true);
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  if (!*checkpoints) return make_schedmate(input, settings);
  PreemptiveOptions options;
  const auto spread = settings.take_number("spread", options.spread);
  if (!spread) return tl::unexpected(spread.error());
  const auto levels = settings.take_number("levels", options.levels);
  if (!levels) return tl::unexpected(levels.error());
  const auto interval = settings.take_integer("interval_s", options.interval.count());
  if (!interval) return tl::unexpected(interval.error());
  if (!(*spread >= 0.1 && *spread <= 5) || !(*levels >= 1.1 && *levels <= 1000) || *interval < 1)
    return fail(ErrorCode::unsupported,
                fmt::format("spread={}, levels={}, interval_s={}: spread must be 0.1 to 5, levels "
                            "1.1 to 1000 and interval_s at least 1",
                            *spread, *levels, *interval));
  Scheduler scheduler;
  scheduler.decide = Preemptive({*spread, *levels, Seconds(*interval)});
  scheduler.estimator = "last_k";
  scheduler.counts_down = true;
  return scheduler;
}

}  // namespace schedmate::policy
