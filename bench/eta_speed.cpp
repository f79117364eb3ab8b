// SPDX-License-Identifier: Apache-2.0

/// How long forecasts take: of snapshots of a replayed trace at random instants, and of made-up
/// ones, fresh and after a change, with the largest memory of the process so far.
///
///   eta_speed FORMAT:PATH POLICY FIRST_DAY LAST_DAY INSTANTS SEED > rows.csv
///   eta_speed made POLICY WAITING GPUS POOLS SAMPLES THREADS > rows.csv

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <schedmate/queue_forecaster.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>

#include "base/random.hpp"
#include "base/text.hpp"
#include "bench/eta_policy.hpp"
#include "eta/replayed_queue.hpp"

namespace schedmate {
namespace {

/// Of all threads; the wall clock tells little on a machine that others use.
double cpu_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) {
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Of all that was said.
std::uint64_t fingerprint(const QueueForecast& forecast) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t value) { sum = mix(sum ^ mix(value)); };
  for (const JobForecast& job : forecast.jobs) {
    for (const double wait : job.waits_s) add(std::bit_cast<std::uint64_t>(wait));
    add(static_cast<std::uint64_t>(seconds_of(job.end.p50)));
    add(static_cast<std::uint64_t>(job.block));
    for (const auto& each : job.awaited) add(each.job);
  }
  return sum;
}

int replayed(const std::vector<std::string>& arguments) {
  const auto trace = read_trace(arguments[0], {});
  if (!trace || !trace->cluster) {
    fmt::print(stderr, "eta_speed: {}\n", trace ? "no cluster" : trace.error().message);
    return 3;
  }
  const ClusterSpec cluster = *trace->cluster;
  const auto number = [&](std::size_t i) {
    return parse_number<std::int64_t>(arguments[i]).value_or(1);
  };
  const auto scheduler = bench::policy_of(arguments[1], cluster);
  if (!scheduler) {
    fmt::print(stderr, "eta_speed: {}\n", scheduler.error().message);
    return 3;
  }
  const EstimatorInput input{.seed = 1, .truth = Truth(*trace)};
  const auto limit = make_estimator("limit", input).value();
  std::vector<Seconds> limits;
  for (std::size_t row = 0; row < trace->jobs.size(); ++row) {
    const KnownJob job = known_job(*trace, row);
    limits.emplace_back(static_cast<std::int64_t>(limit({job, job.submit}).run_time.count()));
  }
  SimOptions options;
  options.estimator = limit;
  options.threads = 2;
  const SimResult result = simulate(*trace, cluster, *scheduler, options).value();
  const eta::ReplayedQueue queue({*trace, cluster, result.outcomes, limits, limits});
  const SimTime zero = trace->jobs.front().submit;
  Random random(static_cast<std::uint64_t>(number(5)));
  fmt::print("day,jobs,waiting,samples,ms,cpu_ms,fingerprint\n");
  double all_ms = 0;
  for (std::int64_t i = 0; i < number(4); ++i) {
    const Seconds passed(random.between(number(2) * 86'400, number(3) * 86'400));
    const QueueSnapshot snapshot = queue.snapshot_at(zero + passed);
    const auto start = std::chrono::steady_clock::now();
    const double cpu_before = cpu_ms();
    const auto forecast = forecast_queue(snapshot, *scheduler, {.samples = 100}).value();
    const double ms = ms_since(start);
    const double cpu = cpu_ms() - cpu_before;
    all_ms += cpu;
    const auto waiting =
        std::ranges::count_if(snapshot.jobs, [](const auto& job) { return !job.started; });
    fmt::print("{:.3f},{},{},{},{:.1f},{:.1f},{:016x}\n",
               FractionalSeconds(passed).count() / 86'400, snapshot.jobs.size(), waiting,
               forecast.samples, ms, cpu, fingerprint(forecast));
  }
  fmt::print(stderr, "{:.1f} ms of CPU an instant\n", all_ms / static_cast<double>(number(4)));
  return 0;
}

/// One that waits; how long it runs is known to a factor.
SnapshotJob made_job(Random& random, std::uint32_t number, std::uint32_t pools) {
  constexpr std::array sizes{1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 16, 32};
  SnapshotJob job;
  job.id = std::to_string(number);
  job.user = static_cast<std::uint32_t>(random.below(200));
  job.pool = number % pools;
  job.gpus = sizes[static_cast<std::size_t>(random.below(std::ssize(sizes)))];
  job.burst = number;
  const double hours = std::exp(1 + 1.5 * random.normal());
  RunTimeCurve::Chances chances{};
  for (std::size_t bin = 0; bin < RunTimeCurve::bins; ++bin) {
    const double off = static_cast<double>(bin) - RunTimeCurve::place_of(3600 * hours);
    chances[bin] = static_cast<float>(1 / (1 + std::exp(-off / 10)) / 10);
  }
  job.belief.curve = std::make_shared<const RunTimeCurve>(chances);
  job.planned = FractionalSeconds(std::ceil(hours * 3) * 3600);
  job.limit = Seconds(static_cast<std::int64_t>(job.planned.count()));
  return job;
}

/// Pools as full as can be, some of their jobs for days.
QueueSnapshot made_queue(std::int64_t waiting, std::int64_t gpus, std::uint32_t pools) {
  Random random(1);
  QueueSnapshot snapshot;
  constexpr std::int64_t day_s = 86'400;
  snapshot.now = at(30 * day_s);
  constexpr int of_node = 8;
  std::vector<Cluster> clusters;
  for (std::uint32_t i = 0; i < pools; ++i) {
    snapshot.pools.push_back({.name = fmt::format("pool{}", i),
                              .nodes = static_cast<int>(gpus / of_node / pools),
                              .gpus_per_node = of_node,
                              .gpu_type = ""});
    clusters.emplace_back(snapshot.pools.back(), Placer::consolidate);
  }
  std::uint32_t number = 0;
  // One GPU each, or the ten thousand would not be as many jobs.
  for (std::int64_t free = gpus; free > 0;) {
    SnapshotJob job = made_job(random, number, pools);
    job.gpus = 1;
    Cluster& cluster = clusters[job.pool];
    ++number;
    --free;
    if (!cluster.find(job.gpus, job.where)) continue;
    cluster.claim(JobId{number}, job.where);
    const double ran_s = job.planned.count() * random.uniform() / 3;
    job.started = snapshot.now - Seconds(static_cast<std::int64_t>(ran_s));
    job.submit = *job.started;
    snapshot.jobs.push_back(std::move(job));
  }
  for (std::int64_t i = 0; i < waiting; ++i) {
    SnapshotJob job = made_job(random, number++, pools);
    job.submit = snapshot.now - Seconds(waiting - i);
    snapshot.jobs.push_back(std::move(job));
  }
  // Four fifths of the GPU hours that the pools have, four weeks long.
  const double gpu_s_a_day = 0.8 * static_cast<double>(gpus * day_s);
  constexpr std::int64_t days = 28;
  for (double used = 0; used < static_cast<double>(days) * gpu_s_a_day;) {
    const SnapshotJob job = made_job(random, number++, pools);
    PastSubmission past;
    past.submit = snapshot.now - Seconds(random.between(1, days * day_s));
    past.user = job.user;
    past.pool = job.pool;
    past.gpus = job.gpus;
    past.ran_s = job.belief.draw(random.uniform(), 0);
    past.planned = job.planned;
    used += past.ran_s * past.gpus;
    snapshot.past.push_back(past);
  }
  std::ranges::sort(snapshot.past, {}, &PastSubmission::submit);
  return snapshot;
}

int made(const std::vector<std::string>& arguments) {
  const auto number = [&](std::size_t i) {
    return parse_number<std::int64_t>(arguments[i]).value_or(1);
  };
  const auto pools = static_cast<std::uint32_t>(number(4));
  const QueueSnapshot snapshot = made_queue(number(2), number(3), pools);
  const auto scheduler = bench::policy_of(arguments[1], ClusterSpec{snapshot.pools});
  if (!scheduler) {
    fmt::print(stderr, "eta_speed: {}\n", scheduler.error().message);
    return 3;
  }
  const EtaOptions options{.samples = number(5), .threads = static_cast<int>(number(6))};
  fmt::print("what,jobs,waiting,pools,samples,ms,cpu_ms,peak_mib,fingerprint\n");
  const auto timed = [&](const char* what, std::size_t jobs, const auto& action) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_before = cpu_ms();
    const QueueForecast forecast = action();
    const double ms = ms_since(start), cpu = cpu_ms() - cpu_before;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    fmt::print("{},{},{},{},{},{:.1f},{:.1f},{},{:016x}\n", what, jobs, number(2), pools,
               forecast.samples, ms, cpu, used.ru_maxrss / 1024, fingerprint(forecast));
  };
  const std::size_t jobs = snapshot.jobs.size();
  timed("fresh", jobs, [&] { return forecast_queue(snapshot, *scheduler, options).value(); });
  QueueForecaster forecaster(snapshot, *scheduler, options);
  timed("first", jobs, [&] { return forecaster.forecast().value(); });
  timed("unchanged", jobs, [&] { return forecaster.forecast().value(); });
  Random random(2);
  constexpr int changes = 3;
  constexpr std::int64_t few = 8;
  for (int i = 0; i < changes; ++i) {
    SnapshotJob job = made_job(random, 1'000'000 + static_cast<std::uint32_t>(i), pools);
    job.submit = snapshot.now;
    timed("arrival, few samples", jobs, [&] {
      if (!forecaster.arrived(job)) return QueueForecast();
      return forecaster.forecast(few).value();
    });
    timed("arrival, all", jobs, [&] { return forecaster.forecast().value(); });
    const std::string id = snapshot.jobs[static_cast<std::size_t>(i) * 7].id;
    timed("end, few samples", jobs, [&] {
      if (!forecaster.ended(id)) return QueueForecast();
      return forecaster.forecast(few).value();
    });
    timed("end, all", jobs, [&] { return forecaster.forecast().value(); });
  }
  timed("fresh of the changed", jobs,
        [&] { return forecast_queue(forecaster.snapshot(), *scheduler, options).value(); });
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 7 && arguments[0] == "made") return schedmate::made(arguments);
  if (arguments.size() == 6) return schedmate::replayed(arguments);
  fmt::print(stderr,
             "usage: eta_speed FORMAT:PATH POLICY FIRST_DAY LAST_DAY INSTANTS SEED\n"
             "       eta_speed made POLICY WAITING GPUS POOLS SAMPLES THREADS\n");
  return 2;
}
