// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A replay that starts jobs by a policy of its own, with the live loop beside it that may order
/// them, from the first submission to the last end.

#include <algorithm>
#include <map>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <string>
#include <utility>
#include <vector>

#include "live/loop.hpp"
#include "replay/cluster.hpp"
#include "tests/support/loop_driver.hpp"

namespace schedmate::testing {

/// An estimator that knows jobs by the numbers of the trace, asked by a loop that gives its own.
class ByTrace {
 public:
  ByTrace(Estimator inner, const Trace& trace) : inner_(std::move(inner)), trace_(trace) {
    for (std::uint32_t row = 0; row < trace.jobs.size(); ++row)
      rows_[std::string(trace.jobs[row].id)] = row;
  }
  Prediction operator()(const EnteringJob& entering) {
    const KnownJob job = known_job(trace_, row(entering.job.id));
    return inner_({job, entering.now});
  }
  void learn(const FinishedJob& job) {
    inner_.learn(finished_job(trace_, row(job.job.id), job.end));
  }

 private:
  [[nodiscard]] std::uint32_t row(std::string_view id) const { return rows_.at(std::string(id)); }
  Estimator inner_;
  const Trace& trace_;
  std::map<std::string, std::uint32_t> rows_;
};

struct Host {
  const Scheduler& scheduler;
  Estimator estimator;
};
/// What the loop does; without an ordering there is no loop. It reads the cluster when something
/// has happened there, and so often at most.
struct Beside {
  std::optional<live::Ordering::Setup> ordering{};
  Mode mode = Mode::act;
  Seconds often{0};
  std::vector<SeenJob> past{};  ///< runs that it knows from before
};
struct Hosted {
  std::vector<JobOutcome> outcomes;
  live::Loop::Counts counts;
};

inline Hosted hosted(const Trace& trace, const ClusterSpec& spec, const Host& host,
                     const Beside& beside = {}) {
  SimOptions sim;
  sim.estimator = host.estimator;
  replay::ReplayCluster cluster(trace, spec, sim, &host.scheduler);
  live::LoopOptions options;
  options.settings.modes.order = beside.mode;
  options.poll = Seconds(0);
  options.ordering = beside.ordering;
  live::Loop loop(options, {}, cluster.now());
  loop.learn_past(beside.past);
  LoopDriver driver(loop, cluster, [](const journal::Batch&) { return Result<void>(); });
  if (beside.ordering) driver.tell(live::Ticked{}, cluster.now() - Seconds(1));
  SimTime read = SimTime::min();
  for (SimTime next = cluster.next_instant(); next != never; next = cluster.next_instant()) {
    cluster.advance(next);
    if (!beside.ordering || next < read) continue;
    driver.tell(live::Ticked{}, next);
    read = next + beside.often;
  }
  return {cluster.outcomes(), loop.counts()};
}

struct Averages {
  double jct_s = 0, wait_s = 0;
  std::int64_t jobs = 0;
};
/// Of those that ended and for which `counts` holds, by row.
template <class Counts>
Averages averages(const Trace& trace, const std::vector<JobOutcome>& outcomes,
                  const Counts& counts) {
  Averages all;
  for (std::size_t row = 0; row < outcomes.size(); ++row) {
    if (outcomes[row].status != JobStatus::finished || !counts(row)) continue;
    all.jct_s += static_cast<double>((outcomes[row].end - trace.jobs[row].submit).count());
    all.wait_s += static_cast<double>((outcomes[row].start - trace.jobs[row].submit).count());
    ++all.jobs;
  }
  all.jct_s /= static_cast<double>(std::max<std::int64_t>(1, all.jobs));
  all.wait_s /= static_cast<double>(std::max<std::int64_t>(1, all.jobs));
  return all;
}
inline Averages averages(const Trace& trace, const std::vector<JobOutcome>& outcomes) {
  return averages(trace, outcomes, [](std::size_t) { return true; });
}

}  // namespace schedmate::testing
