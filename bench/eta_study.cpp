// SPDX-License-Identifier: Apache-2.0

/// What forecasts of starts and ends are worth (docs/eta.md): at random instants of a replayed
/// trace every waiting and running job against what then happened in the replay, each job once a
/// day; beside what people have. A trace's limits are synthetic and drawn from the true durations:
/// the policy and the rivals plan with them, ours takes them for upper bounds.
///
///   eta_study FORMAT:PATH POLICY FIRST_DAY LAST_DAY INSTANTS SEED > rows.csv

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <schedmate/eta.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>
#include <set>

#include "base/random.hpp"
#include "base/text.hpp"
#include "eta/replayed_queue.hpp"

namespace schedmate {
namespace {

constexpr std::array shares{0.1, 0.5, 0.9};
using Quantiles = std::array<double, 3>;  // of log(seconds + a minute)

double log_wait(double seconds) { return std::log(60 + std::clamp(seconds, 0.0, 5'184'000.0)); }

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, at);
  return *at;
}

/// Predictions of one way, in order of time, made honest by how far off the earlier ones were.
class Way {
 public:
  explicit Way(std::string name) : name_(std::move(name)) {}
  void say(SimTime now, SimTime then, const Quantiles& raw, const std::string& group, double gpus) {
    while (!open_.empty() && open_.begin()->first <= now) {
      known_.push_back(open_.begin()->second);
      open_.erase(open_.begin());
      if (known_.size() > 3000) known_.pop_front();
    }
    const double truth = log_wait(static_cast<double>((then - now).count()));
    Quantiles told = raw;
    for (std::size_t i = 0; i < told.size(); ++i) {
      std::vector<double> off;
      for (const auto& each : known_) off.push_back(each[i]);
      if (off.size() > 30) told[i] += quantile_of(off, shares[i]);
    }
    std::ranges::sort(told);
    Quantiles off{};
    for (std::size_t i = 0; i < off.size(); ++i) off[i] = truth - raw[i];
    open_.emplace(then, off);
    scores_.push_back({truth, raw, told, group, gpus});
  }
  void report(const char* what) const {
    double inside = 0, raw_inside = 0, raw_below = 0, pinball = 0, raw_pinball = 0, hour = 0;
    std::vector<double> off, off_minutes;
    for (const Score& each : scores_) {
      const auto in = [&](const Quantiles& q) { return each.truth >= q[0] && each.truth <= q[2]; };
      const auto loss = [&](const Quantiles& q) {
        double sum = 0;
        for (std::size_t i = 0; i < q.size(); ++i) {
          const double d = each.truth - q[i];
          sum += std::max(shares[i] * d, (shares[i] - 1) * d);
        }
        return sum / 3;
      };
      inside += in(each.told);
      raw_inside += in(each.raw);
      raw_below += each.truth < each.raw[0];
      pinball += loss(each.told);
      raw_pinball += loss(each.raw);
      off.push_back(std::abs(each.truth - each.told[1]));
      off_minutes.push_back(std::abs(std::exp(each.truth) - std::exp(each.told[1])) / 60);
      hour += (each.told[1] < log_wait(3600)) == (each.truth < log_wait(3600));
    }
    const auto n = static_cast<double>(scores_.size());
    fmt::print("{},{},{},{:.2f},{:.2f},{:.2f},{:.4f},{:.4f},{:.3f},{:.1f},{:.1f}\n", what, name_, n,
               100 * inside / n, 100 * raw_inside / n, 100 * raw_below / n, pinball / n,
               raw_pinball / n, quantile_of(off, 0.5), quantile_of(off_minutes, 0.5),
               100 * hour / n);
  }

 private:
  struct Score {
    double truth;
    Quantiles raw, told;
    std::string group;
    double gpus;
  };
  std::string name_;
  std::multimap<SimTime, Quantiles> open_;
  std::deque<Quantiles> known_;
  std::vector<Score> scores_;
};

Quantiles logs_of(const InstantQuantiles& told, SimTime now) {
  const auto one = [&](SimTime when) {
    return log_wait(when == never ? 1e9 : static_cast<double>((when - now).count()));
  };
  return {one(told.p10), one(told.p50), one(told.p90)};
}

RunTimeBelief only(Seconds run_time) {
  return {.curve = nullptr, .known_s = std::max(1.0, FractionalSeconds(run_time).count())};
}

struct Study {
  Trace trace;
  ClusterSpec cluster;
  Scheduler scheduler;
  SimResult result;
  std::vector<Seconds> planned, limits;

  void run(std::int64_t first_day, std::int64_t last_day, std::int64_t instants,
           std::uint64_t seed) {
    const SimTime zero = trace.jobs.front().submit;
    Random random(seed);
    std::vector<SimTime> times;
    for (std::int64_t i = 0; i < instants; ++i)
      times.push_back(zero + Seconds(random.between(first_day * 86'400, last_day * 86'400)));
    std::ranges::sort(times);
    const eta::ReplayedQueue queue({trace, cluster, result.outcomes, planned, limits});
    // Each job once a day: the instant with the lowest number drawn for the pair.
    std::map<std::pair<std::uint32_t, std::int64_t>, std::pair<std::uint64_t, std::size_t>> chosen;
    for (std::size_t i = 0; i < times.size(); ++i)
      for (const std::uint32_t row : queue.rows_at(times[i])) {
        const std::int64_t day = (times[i] - zero).count() / 86'400;
        const std::pair drawn(mix(seed ^ mix(row ^ mix(i))), i);
        const auto [at, fresh] = chosen.try_emplace({row, day}, drawn);
        if (!fresh) at->second = std::min(at->second, drawn);
      }
    std::map<std::size_t, std::set<std::uint32_t>> asked;
    for (const auto& [pair, drawn] : chosen) asked[drawn.second].insert(pair.first);
    fmt::print(stderr, "{} pairs at {} instants\n", chosen.size(), asked.size());
    for (const auto& [i, rows] : asked) at_instant(queue, times[i], rows);
    fmt::print(
        "what,way,jobs,inside_80_pct,raw_inside_80_pct,raw_below_pct,pinball,raw_pinball,log_off_"
        "median,off_min_"
        "median,within_hour_right_pct\n");
    for (const Way* way :
         {&ours, &closed, &by_limit, &oracle, &user, &pool, &ends_known, &queue_known})
      way->report("start");
    for (const Way* way : {&ours_end, &limit_end}) way->report("end");
  }

  void at_instant(const eta::ReplayedQueue& queue, SimTime now,
                  const std::set<std::uint32_t>& rows) {
    QueueSnapshot snapshot = queue.snapshot_at(now);
    const auto all = queue.rows_at(now);
    const auto forecast = [&](const QueueSnapshot& of, std::int64_t samples) {
      return forecast_queue(of, scheduler, {.samples = samples, .threads = 2}).value();
    };
    const QueueForecast with = forecast(snapshot, 100);
    QueueSnapshot alone = snapshot;
    alone.past.clear();
    const QueueForecast without = forecast(alone, 100);
    QueueSnapshot limited = alone;
    for (std::size_t i = 0; i < all.size(); ++i) limited.jobs[i].belief = only(limits[all[i]]);
    const QueueForecast strict = forecast(limited, 1);
    QueueSnapshot known = alone;
    for (std::size_t i = 0; i < all.size(); ++i)
      known.jobs[i].belief = only(trace.jobs[all[i]].duration);
    const QueueForecast told = forecast(known, 1);
    QueueSnapshot half = snapshot, other = snapshot;
    for (std::size_t i = 0; i < all.size(); ++i)
      (half.jobs[i].started ? half : other).jobs[i].belief = known.jobs[i].belief;
    const QueueForecast true_ends = forecast(half, 100), true_queue = forecast(other, 100);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!rows.contains(all[i])) continue;
      const Job& job = trace.jobs[all[i]];
      const JobOutcome& outcome = result.outcomes[all[i]];
      if (outcome.status != JobStatus::finished) continue;
      const std::string group = fmt::format("{}", job.vc);
      const auto say = [&](Way& way, SimTime then, const Quantiles& q) {
        way.say(now, then, q, group, job.gpus);
      };
      if (outcome.start <= now) {
        say(ours_end, outcome.end, logs_of(with.jobs[i].end, now));
        say(limit_end, outcome.end, logs_of(strict.jobs[i].end, now));
        continue;
      }
      say(ours, outcome.start, logs_of(*with.jobs[i].start, now));
      say(closed, outcome.start, logs_of(*without.jobs[i].start, now));
      say(by_limit, outcome.start, logs_of(*strict.jobs[i].start, now));
      say(oracle, outcome.start, logs_of(*told.jobs[i].start, now));
      say(ends_known, outcome.start, logs_of(*true_ends.jobs[i].start, now));
      say(queue_known, outcome.start, logs_of(*true_queue.jobs[i].start, now));
      say(user, outcome.start, of_user(now, all[i]));
      say(pool, outcome.start, of_pool(now, all[i]));
    }
  }

  /// Median wait of the user's last ten jobs that have started.
  Quantiles of_user(SimTime now, std::uint32_t row) const {
    std::vector<double> waits;
    for (std::uint32_t other = row; other-- > 0 && waits.size() < 10;)
      if (trace.jobs[other].user == trace.jobs[row].user && result.outcomes[other].started &&
          result.outcomes[other].start <= now)
        waits.push_back(
            static_cast<double>((result.outcomes[other].start - trace.jobs[other].submit).count()));
    const double so_far = static_cast<double>((now - trace.jobs[row].submit).count());
    const double left = log_wait(std::max(0.0, quantile_of(waits, 0.5) - so_far));
    return {left, left, left};
  }

  /// Of the waits of the last jobs of the VC that were longer than that so far, what was left.
  Quantiles of_pool(SimTime now, std::uint32_t row) const {
    const double so_far = static_cast<double>((now - trace.jobs[row].submit).count());
    std::vector<double> left;
    for (const bool same_vc : {true, false}) {
      for (std::uint32_t other = row; other-- > 0 && left.size() < 300;) {
        const JobOutcome& outcome = result.outcomes[other];
        if ((same_vc && trace.jobs[other].vc != trace.jobs[row].vc) || !outcome.started ||
            outcome.start > now)
          continue;
        const auto wait = static_cast<double>((outcome.start - trace.jobs[other].submit).count());
        if (wait > so_far) left.push_back(log_wait(wait - so_far));
      }
      if (left.size() >= 10) break;
      left.clear();
    }
    if (left.empty()) return {log_wait(60), log_wait(600), log_wait(so_far)};
    return {quantile_of(left, 0.1), quantile_of(left, 0.5), quantile_of(left, 0.9)};
  }

  Way ours{"eta"}, closed{"eta without arrivals"}, by_limit{"limits"}, oracle{"oracle durations"},
      user{"user's last ten"}, pool{"past waits of the VC"};
  Way ends_known{"running known"}, queue_known{"waiting known"};
  Way ours_end{"eta"}, limit_end{"limits"};
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
  Study study{.trace = std::move(*trace),
              .cluster = {},
              .scheduler = {},
              .result = {},
              .planned = {},
              .limits = {}};
  study.cluster = *study.trace.cluster;
  study.scheduler = make_scheduler(arguments[1], {study.cluster}, {}).value();
  const EstimatorInput input{.seed = 1, .truth = Truth(study.trace)};
  const auto limit = make_estimator("limit", input).value();
  for (std::size_t row = 0; row < study.trace.jobs.size(); ++row) {
    const KnownJob job = known_job(study.trace, row);
    const auto seconds = static_cast<std::int64_t>(limit({job, job.submit}).run_time.count());
    study.limits.push_back(Seconds(seconds));
  }
  study.planned = study.limits;
  SimOptions options;
  options.estimator = limit;
  options.threads = 2;
  study.result = simulate(study.trace, study.cluster, study.scheduler, options).value();
  study.run(number(2), number(3), number(4), static_cast<std::uint64_t>(number(5)));
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 6) return schedmate::study(arguments);
  fmt::print(stderr,
             "usage: eta_study FORMAT:PATH POLICY FIRST_DAY LAST_DAY INSTANTS SEED > rows.csv\n");
  return 2;
}
