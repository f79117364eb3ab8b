// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>

#include "daemon/answers.hpp"

namespace schedmate::daemon {
namespace {

using http::Metric;
using http::MetricKind;

double count(std::integral auto value) { return static_cast<double>(value); }

Metric single(std::string name, std::string help, MetricKind kind, double value) {
  return {std::move(name), std::move(help), kind, "", {{"", value}}};
}

Metric jobs_now(const live::Jobs& jobs) {
  std::array<double, 2> phases{};
  for (const auto& [id, attempt] : jobs.all())
    if (attempt.seen.phase != JobPhase::ended)
      phases.at(static_cast<std::size_t>(attempt.seen.phase)) += 1;
  return {"schedmate_jobs",
          "Jobs that wait or run.",
          MetricKind::gauge,
          "state",
          {{"pending", phases[0]}, {"running", phases[1]}}};
}

Metric nodes_now(const live::Actions& actions) {
  std::array<double, 3> states{};
  for (const auto& [name, node] : actions.nodes())
    states.at(static_cast<std::size_t>(node.state)) += 1;
  return {"schedmate_nodes",
          "Nodes of the cluster.",
          MetricKind::gauge,
          "state",
          {{"up", states[0]}, {"drained", states[1]}, {"down", states[2]}}};
}

Metric actions_now(const live::Actions& actions) {
  double waiting = 0;
  for (const auto& [id, action] : actions.all())
    if (action.state() == ActionState::waiting) waiting += 1;
  return single("schedmate_actions_waiting", "Actions that wait for an operator.",
                MetricKind::gauge, waiting);
}

/// Proposals that came to nothing, by what kept them back.
Metric held_back(const live::Actions::Counts& counts) {
  return {"schedmate_proposals_held_back_total",
          "Proposals to act that came to nothing; over_cap: that wait for an operator.",
          MetricKind::counter,
          "cause",
          {{"no_second_witness", count(counts.unwitnessed)},
           {"breaker", count(counts.stopped)},
           {"over_cap", count(counts.capped)},
           {"target_busy", count(counts.busy)},
           {"mode_observe", count(counts.observed)},
           {"unfit", count(counts.unfit)}}};
}

/// What was asked of schedmate-reader.
Metric studies_made(const live::StudyQueue::Counts& counts) {
  return {"schedmate_studies_total",
          "Readings of jobs' code, logs and failures, by what became of them: failed ones may be "
          "tried again, late ones came when nobody waited any more, skipped ones were asked for "
          "while the same was being read.",
          MetricKind::counter,
          "outcome",
          {{"asked", count(counts.made)},
           {"failed", count(counts.failed)},
           {"late", count(counts.late)},
           {"skipped", count(counts.skipped)}}};
}

/// One value for each word of an enumeration.
template <class Word, std::size_t size>
Metric by_word(Metric made, const std::array<std::uint64_t, size>& counts) {
  for (std::size_t i = 0; i < size; ++i)
    made.values.emplace_back(name_of(static_cast<Word>(i)), count(counts[i]));
  return made;
}

}  // namespace

std::vector<Metric> metrics_of(const State& state) {
  const live::Loop::Counts& counts = state.loop.counts();
  const live::Actions& actions = state.loop.actions();
  std::vector<Metric> made = {
      single("schedmate_readings_total", "Readings of the cluster.", MetricKind::counter,
             count(counts.readings)),
      single("schedmate_readings_failed_total", "Readings that the cluster did not answer.",
             MetricKind::counter, count(counts.blind)),
      single("schedmate_calls_total", "Calls made of the cluster.", MetricKind::counter,
             count(counts.calls)),
      single("schedmate_policy_restarts_total", "Times that a policy began anew.",
             MetricKind::counter, count(counts.anew)),
      single("schedmate_breaker_open", "1 while the breaker is open.", MetricKind::gauge,
             actions.breaker_open() ? 1 : 0),
      single("schedmate_cluster_time_seconds", "The cluster's clock, seconds since 1970.",
             MetricKind::gauge, static_cast<double>(seconds_of(state.now))),
      jobs_now(state.loop.jobs()),
      nodes_now(actions),
      actions_now(actions),
      held_back(actions.counts()),
      studies_made(state.loop.lives().counts()),
      {"schedmate_history_ends_total",
       "Ends of jobs by what became of them in the history: refused ones it cannot keep, dropped "
       "ones were too many while it was away.",
       MetricKind::counter,
       "outcome",
       {{"kept", count(state.ends.kept)},
        {"refused", count(state.ends.refused)},
        {"dropped", count(state.ends.dropped)}}},
      single("schedmate_history_waiting", "Ends of jobs that the history has not taken yet.",
             MetricKind::gauge, count(state.ends.waiting)),
      {"schedmate_forecast_starts_total",
       "Jobs that started, by where that lay in the first interval told (8 of 10 inside).",
       MetricKind::counter,
       "held",
       {{"before", count(state.foretold.before)},
        {"inside", count(state.foretold.inside)},
        {"after", count(state.foretold.after)}}},
      by_word<live::Change::Kind>(
          {"schedmate_job_changes_total", "What was seen to happen to jobs.", MetricKind::counter,
           "change"},
          counts.changes),
      by_word<ActionState>({"schedmate_action_steps_total", "States that actions have reached.",
                            MetricKind::counter, "state"},
                           counts.steps),
  };
  made.push_back(
      {"schedmate_worker_readings_total",
       "Readings for which workers are configured, by who made them: workers, or this "
       "machine in their place.",
       MetricKind::counter,
       "by",
       {{"workers", count(state.readings.by_workers)}, {"itself", count(state.readings.instead)}}});
  if (state.desk != nullptr)
    std::ranges::move(state.desk->metrics(actions.nodes(), state.wall_s), std::back_inserter(made));
  return made;
}

std::string summary_of(const State& state) {
  using enum live::Change::Kind;
  const live::Loop::Counts& counts = state.loop.counts();
  const auto changes = [&](live::Change::Kind kind) {
    return counts.changes.at(static_cast<std::size_t>(kind));
  };
  const auto steps = [&](ActionState reached) {
    return counts.steps.at(static_cast<std::size_t>(reached));
  };
  return fmt::format(
      "saw {} jobs come, {} start and {} end in {} readings; {} actions: {} in shadow, {} called, "
      "{} verified, {} failed",
      changes(arrived), changes(started), changes(ended), counts.readings,
      steps(ActionState::planned), steps(ActionState::shadowed), steps(ActionState::called),
      steps(ActionState::verified), steps(ActionState::failed));
}

}  // namespace schedmate::daemon
