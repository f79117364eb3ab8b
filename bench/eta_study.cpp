// SPDX-License-Identifier: Apache-2.0

/// What forecasts of starts and ends are worth (docs/eta.md): at random instants of a replayed
/// trace every waiting and running job against what then happened in the replay, each job once a
/// day; beside what people have. A trace's limits are synthetic and drawn from the true durations:
/// the policy and the rivals plan with them, ours takes them for upper bounds. One line for each
/// forecast and way, before calibration, which eta_scores adds. NODES: the share of the nodes of
/// each VC that are there; fewer make more of them busy.
///
///   eta_study FORMAT:PATH POLICY[/POLICY] FIRST_DAY LAST_DAY INSTANTS SEED NODES > rows.csv
///
/// Where the forecast takes a policy other than the cluster's, that is the second.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <schedmate/eta_calibration.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>

#include "base/text.hpp"
#include "bench/eta_policy.hpp"
#include "bench/quantile_of.hpp"
#include "eta/look_back.hpp"

namespace schedmate {
namespace {

constexpr std::int64_t day_s = 86'400;

Spans point(double seconds) {
  Spans spans{};
  spans.fill(seconds);
  return spans;
}

RunTimeBelief only(Seconds run_time) {
  return {.curve = nullptr, .known_s = std::max(1.0, FractionalSeconds(run_time).count())};
}

struct Study {
  Trace trace;
  ClusterSpec cluster;
  Scheduler scheduler;  // of the forecasts
  SimResult result;
  std::vector<Seconds> planned, limits;
  std::int64_t day = 0;  // of the instant

  void run(std::int64_t first_day, std::int64_t last_day, std::int64_t instants,
           std::uint64_t seed) {
    const SimTime zero = trace.jobs.front().submit;
    const eta::ReplayedQueue queue({trace, cluster, result.outcomes, planned, limits});
    const auto asked = eta::draw_instants(queue, {zero + Seconds(first_day * day_s),
                                                  zero + Seconds(last_day * day_s),
                                                  instants,
                                                  {.seed = seed}});
    fmt::print(stderr, "{} instants\n", asked.size());
    fmt::print(
        "now_s,day,job,pool,gpus,queued,so_far_s,what,way,p10_s,p25_s,p50_s,p75_s,p90_s,then_s\n");
    for (const eta::AskedInstant& each : asked) {
      day = (each.when - zero).count() / day_s;
      at_instant(queue, each);
    }
  }

  void at_instant(const eta::ReplayedQueue& queue, const eta::AskedInstant& asked) {
    const SimTime now = asked.when;
    const eta::AskedQueue part = asked_queue(queue, asked);
    const QueueSnapshot& snapshot = part.snapshot;
    const auto forecast = [&](const QueueSnapshot& of, std::int64_t samples) {
      return forecast_queue(of, scheduler, {.samples = samples}).value();
    };
    const QueueForecast with = forecast(snapshot, 100);
    QueueSnapshot changed = snapshot;
    changed.past.clear();
    const QueueForecast without = forecast(changed, 100);
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      changed.jobs[i].belief = only(limits[part.rows[i]]);
    const QueueForecast strict = forecast(changed, 1);
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      changed.jobs[i].belief = only(trace.jobs[part.rows[i]].duration);
    const QueueForecast oracle = forecast(changed, 1);
    std::map<std::uint32_t, std::int64_t> queued;
    for (const SnapshotJob& job : snapshot.jobs) queued[job.pool] += job.started ? 0 : 1;
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const std::uint32_t row = part.rows[i];
      const JobOutcome& outcome = result.outcomes[row];
      if (!std::ranges::binary_search(asked.rows, row)) continue;
      const SnapshotJob& job = snapshot.jobs[i];
      const SimTime since = job.started.value_or(job.submit);
      const auto line = [&](std::string_view what, std::string_view way, SimTime then,
                            const Spans& told) {
        fmt::print("{},{},{},{},{},{},{},{},{},{:.0f},{}\n", seconds_of(now), day, row, job.pool,
                   job.gpus, queued[job.pool], (now - since).count(), what, way,
                   fmt::join(told, ","), then == never ? -1 : (then - now).count());
      };
      const bool ended = outcome.status == JobStatus::finished;
      const SimTime end = ended ? outcome.end : never;
      const auto of = [&](const QueueForecast& made) -> const JobForecast& { return made.jobs[i]; };
      const std::string_view what = job.started ? "end" : "end of waiting";
      line(what, "eta", end, spans_of(of(with).end, now));
      line(what, "limits", end, spans_of(of(strict).end, now));
      if (job.started) continue;
      const SimTime start = outcome.started ? outcome.start : never;
      line("start", "eta", start, spans_of(*of(with).start, now));
      line("start", "eta without arrivals", start, spans_of(*of(without).start, now));
      line("start", "limits", start, spans_of(*of(strict).start, now));
      line("start", "oracle without arrivals", start, spans_of(*of(oracle).start, now));
      line("start", "user's last ten", start, of_user(now, row));
      line("start", "past waits", start, of_pool(now, row));
    }
  }

  /// Median wait of the user's last ten jobs that have started.
  Spans of_user(SimTime now, std::uint32_t row) const {
    std::vector<double> waits;
    for (std::uint32_t other = row; other-- > 0 && waits.size() < 10;)
      if (trace.jobs[other].user == trace.jobs[row].user && result.outcomes[other].started &&
          result.outcomes[other].start <= now)
        waits.push_back(
            static_cast<double>((result.outcomes[other].start - trace.jobs[other].submit).count()));
    const double so_far = static_cast<double>((now - trace.jobs[row].submit).count());
    return point(std::max(0.0, quantile_of(waits, 0.5) - so_far));
  }

  /// Of the waits of the last jobs of the VC that were longer than that so far, what was left.
  Spans of_pool(SimTime now, std::uint32_t row) const {
    const double so_far = static_cast<double>((now - trace.jobs[row].submit).count());
    std::vector<double> left;
    for (const bool same_vc : {true, false}) {
      for (std::uint32_t other = row; other-- > 0 && left.size() < 300;) {
        const JobOutcome& outcome = result.outcomes[other];
        if ((same_vc && trace.jobs[other].vc != trace.jobs[row].vc) || !outcome.started ||
            outcome.start > now)
          continue;
        const auto wait = static_cast<double>((outcome.start - trace.jobs[other].submit).count());
        if (wait > so_far) left.push_back(wait - so_far);
      }
      if (left.size() >= 10) break;
      left.clear();
    }
    if (left.empty()) return point(so_far);
    Spans spans{};
    for (std::size_t i = 0; i < spans.size(); ++i) spans[i] = quantile_of(left, quantile_shares[i]);
    return spans;
  }
};

int study(const std::vector<std::string>& arguments) {
  auto trace = read_trace(arguments[0], {});
  if (!trace || !trace->cluster) {
    fmt::print(stderr, "eta_study: {}\n", trace ? "no cluster" : trace.error().message);
    return 3;
  }
  const auto number = [&](std::size_t i) {
    return parse_number<std::int64_t>(arguments[i]).value_or(1);
  };
  const auto seed = static_cast<std::uint64_t>(number(5));
  Study study{.trace = std::move(*trace),
              .cluster = {},
              .scheduler = {},
              .result = {},
              .planned = {},
              .limits = {}};
  study.cluster = *study.trace.cluster;
  const double share = parse_number<double>(arguments[6]).value_or(1);
  for (PartitionSpec& pool : study.cluster.partitions)
    pool.nodes = std::max(1, static_cast<int>(std::lround(share * pool.nodes)));
  const std::string_view policies = arguments[1];
  const auto slash = std::min(policies.find('/'), policies.size());
  const auto real = bench::policy_of(policies.substr(0, slash), study.cluster);
  const auto taken =
      bench::policy_of(policies.substr(slash < policies.size() ? slash + 1 : 0), study.cluster);
  if (!real || !taken) {
    fmt::print(stderr, "eta_study: {}\n", (real ? taken : real).error().message);
    return 3;
  }
  study.scheduler = *taken;
  const EstimatorInput input{.seed = seed, .truth = Truth(study.trace)};
  const auto limit = make_estimator("limit", input).value();
  for (std::size_t row = 0; row < study.trace.jobs.size(); ++row) {
    const KnownJob job = known_job(study.trace, row);
    const auto seconds = static_cast<std::int64_t>(limit({job, job.submit}).run_time.count());
    study.limits.emplace_back(seconds);
  }
  study.planned = study.limits;
  SimOptions options;
  options.estimator = limit;
  study.result = simulate(study.trace, study.cluster, *real, options).value();
  study.run(number(2), number(3), number(4), seed);
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 7) return schedmate::study(arguments);
  fmt::print(stderr,
             "usage: eta_study FORMAT:PATH POLICY[/POLICY] FIRST_DAY LAST_DAY INSTANTS SEED NODES "
             "> rows.csv\n");
  return 2;
}
