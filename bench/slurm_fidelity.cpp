// SPDX-License-Identifier: Apache-2.0

/// The simulator beside a run of a real Slurm (tests/live/slurm_fidelity.py): a trace replayed by
/// slurm_backfill with that Slurm's settings, by itself and with the live loop beside it that says
/// who goes first. Jobs' limits are the trace's column limit_s.
///
///   slurm_fidelity TRACE.csv PAST.csv POLICY_OPTIONS ORDER > rows.csv
///
/// PAST.csv: user,gpus,run_s of runs that had ended before. ORDER: span,least_work_s,most_work_s,
/// ageing_s,poll_s; "" = by itself alone.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "tests/replay/hosted.hpp"

namespace schedmate {
namespace {

template <class Value>
Value taken(Result<Value> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "slurm_fidelity: {}\n", result.error().message);
  std::exit(1);
}

std::int64_t whole(std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (number) return *number;
  fmt::print(stderr, "slurm_fidelity: '{}' is no whole number\n", text);
  std::exit(1);
}

std::vector<SeenJob> read_past(const std::string& path, const std::string& partition) {
  std::vector<SeenJob> past;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto words = split(line, ',');
    if (words.size() != 3) continue;
    SeenJob& run = past.emplace_back();
    run.id = fmt::format("past{}", past.size());
    run.user = words[0];
    run.partition = partition;
    run.gpus = static_cast<std::int32_t>(whole(words[1]));
    run.phase = JobPhase::ended;
    run.end_state = EndState::completed;
    run.submitted = at(-1'000'000 + 1000 * std::ssize(past));
    run.started = run.submitted;
    run.ended = run.submitted + Seconds(whole(words[2]));
  }
  return past;
}

void print(const Trace& trace, const char* by, const std::vector<JobOutcome>& outcomes) {
  for (std::size_t row = 0; row < outcomes.size(); ++row)
    fmt::print("{},{},{},{}\n", by, trace.jobs[row].id, seconds_of(outcomes[row].start),
               seconds_of(outcomes[row].end));
}

int run(int count, char** words) {
  if (count != 5) return 2;
  const Trace trace =
      taken(read_trace(std::string("helios:") + words[1], {.columns = {"limit_s"}}));
  if (!trace.cluster) return 2;  // no vc_config.csv beside it
  const ClusterSpec& cluster = *trace.cluster;
  PolicyOptions options;
  options.add_defaults(words[3]);
  const Scheduler slurm = taken(make_scheduler("slurm_backfill", {cluster}, options));
  EstimatorInput input;
  input.truth = Truth(trace);
  const testing::Host host{slurm, taken(make_estimator("column:limit_s", input))};
  fmt::print("by,job_id,start_s,end_s\n");
  print(trace, "itself", testing::hosted(trace, cluster, host).outcomes);
  const auto order = split(words[4], ',');
  if (order.size() != 5) return 0;
  testing::Beside beside;
  beside.ordering =
      live::Ordering::Setup{.work = taken(make_scheduler("schedmate", {cluster}, {})).expected_work,
                            .estimator = taken(make_estimator("last_k", {})),
                            .span = whole(order[0]),
                            .least_work = static_cast<double>(whole(order[1])),
                            .most_work = static_cast<double>(whole(order[2])),
                            .ageing = Seconds(whole(order[3]))};
  beside.often = Seconds(whole(order[4]));
  beside.past = read_past(words[2], cluster.partitions.front().name);
  print(trace, "ordered", testing::hosted(trace, cluster, host, beside).outcomes);
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words) { return schedmate::run(count, words); }
