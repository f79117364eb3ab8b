// SPDX-License-Identifier: Apache-2.0
#include "eta/look_back.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/random.hpp"

namespace schedmate::eta {

std::vector<AskedInstant> draw_instants(const ReplayedQueue& queue, const LookBack& asked) {
  const auto [from, until, instants, how] = asked;
  const std::uint64_t seed = how.seed;
  std::vector<AskedInstant> drawn;
  if (until <= from) return drawn;
  Random random(seed);
  for (std::int64_t i = 0; i < instants; ++i)
    drawn.push_back({from + Seconds(random.below((until - from).count())), {}});
  std::ranges::sort(drawn, {}, &AskedInstant::when);
  // Of all instants of a day that know the job, the one with the lowest number.
  struct Choice {
    std::uint64_t number;
    std::size_t instant;
  };
  std::map<std::pair<std::uint32_t, std::int64_t>, Choice> choices;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    for (const std::uint32_t row : queue.rows_at(drawn[i].when)) {
      constexpr std::int64_t day_s = 86'400;
      const Choice choice{mix(seed ^ mix(row ^ mix(i))), i};
      const auto [found, fresh] =
          choices.try_emplace({row, (drawn[i].when - from).count() / day_s}, choice);
      if (!fresh && choice.number < found->second.number) found->second = choice;
    }
  for (const auto& [job_and_day, choice] : choices)
    drawn[choice.instant].rows.push_back(job_and_day.first);
  std::erase_if(drawn, [](const AskedInstant& each) { return each.rows.empty(); });
  return drawn;
}

AskedQueue asked_queue(const ReplayedQueue& queue, const AskedInstant& asked) {
  AskedQueue made{queue.snapshot_at(asked.when), {}};
  const std::vector<std::uint32_t> rows = queue.rows_at(asked.when);
  std::set<std::uint32_t> pools;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (std::ranges::binary_search(asked.rows, rows[i])) pools.insert(made.snapshot.jobs[i].pool);
  std::vector<SnapshotJob> jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!pools.contains(made.snapshot.jobs[i].pool)) continue;
    jobs.push_back(std::move(made.snapshot.jobs[i]));
    made.rows.push_back(rows[i]);
  }
  made.snapshot.jobs = std::move(jobs);
  return made;
}

namespace {

/// What came of a forecast; `so_far_s` as in PastForecast.
struct Came {
  ForecastKind kind;
  double so_far_s;
  std::optional<SimTime> when;
  std::uint32_t pool;
};

PastForecast past_forecast(const Came& came, const InstantQuantiles& told, SimTime now,
                           SimTime until) {
  const bool known = came.when && *came.when <= until;
  constexpr std::int64_t day_s = 86'400;
  const auto day = static_cast<std::uint64_t>(seconds_of(now) / day_s);
  return {.kind = came.kind,
          .so_far_s = came.so_far_s,
          .told = spans_of(told, now),
          .then_s = FractionalSeconds((known ? *came.when : until) - now).count(),
          .happened = known,
          .crowd = (std::uint64_t{came.pool} + 1) << 32U | day};
}

}  // namespace

SeenForecasts look_back(const ReplayedTrace& replay, const Scheduler& scheduler,
                        const LookBack& asked, const std::function<void(double)>& progress) {
  const ReplayedQueue queue(replay);
  SeenForecasts past;
  const auto instants = draw_instants(queue, asked);
  for (std::size_t done = 0; done < instants.size(); ++done) {
    const AskedInstant& instant = instants[done];
    const AskedQueue of = asked_queue(queue, instant);
    const auto forecast = forecast_queue(of.snapshot, scheduler, asked.how);
    if (progress) progress(static_cast<double>(done + 1) / static_cast<double>(instants.size()));
    if (!forecast) {
      if (past.left_out++ == 0) past.why_left_out = forecast.error().message;
      continue;
    }
    ++past.instants;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
      if (!std::ranges::binary_search(instant.rows, of.rows[i])) continue;
      const SnapshotJob& job = of.snapshot.jobs[i];
      const JobForecast& made = forecast->jobs[i];
      const JobOutcome& outcome = replay.outcomes[of.rows[i]];
      const double so_far_s =
          FractionalSeconds(instant.when - job.started.value_or(job.submit)).count();
      const auto add = [&](ForecastKind kind, const InstantQuantiles& told, bool is_known,
                           SimTime when) {
        const Came came{kind, so_far_s, is_known ? std::optional(when) : std::nullopt, job.pool};
        past.forecasts.push_back(past_forecast(came, told, instant.when, asked.until));
      };
      if (made.start) add(ForecastKind::start, *made.start, outcome.started, outcome.start);
      add(job.started ? ForecastKind::end_of_running : ForecastKind::end_of_waiting, made.end,
          outcome.status == JobStatus::finished, outcome.end);
    }
  }
  return past;
}

}  // namespace schedmate::eta
