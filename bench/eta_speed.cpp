// SPDX-License-Identifier: Apache-2.0

/// How long forecasts take: of the snapshots of a replayed trace at random instants.
///
///   eta_speed FORMAT:PATH POLICY FIRST_DAY LAST_DAY INSTANTS SEED > rows.csv

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <schedmate/eta.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>

#include "base/random.hpp"
#include "base/text.hpp"
#include "eta/replayed_queue.hpp"

namespace schedmate {
namespace {

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
  const auto scheduler = make_scheduler(arguments[1], {cluster}, {});
  if (!scheduler) {
    fmt::print(stderr, "eta_speed: {}\n", scheduler.error().message);
    return 3;
  }
  const EstimatorInput input{.seed = 1, .truth = Truth(*trace)};
  const auto limit = make_estimator("limit", input).value();
  std::vector<Seconds> limits;
  for (std::size_t row = 0; row < trace->jobs.size(); ++row) {
    const KnownJob job = known_job(*trace, row);
    limits.push_back(Seconds(static_cast<std::int64_t>(limit({job, job.submit}).run_time.count())));
  }
  SimOptions options;
  options.estimator = limit;
  options.threads = 2;
  const SimResult result = simulate(*trace, cluster, *scheduler, options).value();
  const eta::ReplayedQueue queue({*trace, cluster, result.outcomes, limits, limits});
  const SimTime zero = trace->jobs.front().submit;
  Random random(static_cast<std::uint64_t>(number(5)));
  fmt::print("day,jobs,waiting,samples,ms,fingerprint\n");
  double all_ms = 0;
  for (std::int64_t i = 0; i < number(4); ++i) {
    const Seconds passed(random.between(number(2) * 86'400, number(3) * 86'400));
    const QueueSnapshot snapshot = queue.snapshot_at(zero + passed);
    const auto start = std::chrono::steady_clock::now();
    const auto forecast = forecast_queue(snapshot, *scheduler, {.samples = 100}).value();
    const double ms = ms_since(start);
    all_ms += ms;
    const auto waiting =
        std::ranges::count_if(snapshot.jobs, [](const auto& job) { return !job.started; });
    fmt::print("{:.3f},{},{},{},{:.1f},{:016x}\n", FractionalSeconds(passed).count() / 86'400,
               snapshot.jobs.size(), waiting, forecast.samples, ms, fingerprint(forecast));
  }
  fmt::print(stderr, "{:.1f} ms an instant\n", all_ms / static_cast<double>(number(4)));
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 6) return schedmate::replayed(arguments);
  fmt::print(stderr, "usage: eta_speed FORMAT:PATH POLICY FIRST_DAY LAST_DAY INSTANTS SEED\n");
  return 2;
}
