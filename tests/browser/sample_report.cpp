// SPDX-License-Identifier: Apache-2.0
// sample_report FILE: writes a report of nine made-up policies, one with a hostile name, for
// report_browser_test.sh and for looking at. The waits are drawn, not simulated.
#include <algorithm>
#include <array>
#include <base/output.hpp>
#include <base/random.hpp>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <schedmate/report.hpp>

namespace schedmate {
namespace {

constexpr Seconds day{86'400};

struct Sketch {
  const char* label;
  double wait;    // median of the waits that are not zero, seconds
  double spread;  // of their logarithm
};
constexpr std::array sketches = {
    Sketch{"fifo", 20'000, 1.2},
    Sketch{"sjf", 1'800, 2.4},
    Sketch{"srtf", 240, 2.0},
    Sketch{"qssf", 2'600, 2.3},
    Sketch{"tiresias", 900, 1.9},
    Sketch{"horus", 700, 2.1},
    Sketch{"lucid", 320, 1.8},
    Sketch{"backfill_easy", 6'000, 1.9},
    Sketch{"</script><b>&\"", 11'000, 1.5},
};

Trace make_trace() {
  Trace trace;
  trace.users = {"ada", "grace", "edsger", "barbara"};
  trace.vcs = {"vision", "speech"};
  Random random(7);
  constexpr std::array sizes = {1, 1, 1, 1, 2, 4, 8, 8, 16, 32, 64};
  for (std::int64_t i = 0; i < 4'000; ++i) {
    Job job;
    job.id = "job";
    job.user = static_cast<std::uint32_t>(random.below(4));
    job.vc = static_cast<std::uint32_t>(random.below(2));
    job.gpus = sizes[static_cast<std::size_t>(random.below(sizes.size()))];
    job.submit = at(random.below(12 * day.count()));
    job.duration = Seconds(static_cast<std::int64_t>(std::exp(6.5 + 2 * random.normal())));
    trace.jobs.push_back(job);
  }
  std::ranges::sort(trace.jobs, {}, &Job::submit);
  trace.report = {.rows = 4'012,
                  .kept = 4'000,
                  .dropped = {{"no GPUs requested", 12}},
                  .messages = {},
                  .out_of_order = 0,
                  .invented_columns = {}};
  return trace;
}

JobOutcome draw(const Job& job, const Sketch& sketch, Random& random) {
  JobOutcome outcome;
  outcome.status = job.gpus > 32 ? JobStatus::infeasible : JobStatus::finished;
  const double wait = sketch.wait * std::exp(sketch.spread * random.normal()) * std::sqrt(job.gpus);
  const bool waits = outcome.status == JobStatus::finished && random.uniform() < 0.7;
  outcome.queue = Seconds(waits ? static_cast<std::int64_t>(std::min(wait, 1e6)) : 0);
  outcome.start = job.submit + outcome.queue;
  outcome.end = outcome.start + job.duration;
  return outcome;
}

// The sample's jobs are submitted over nearly the whole timeline: its mean stands for the window's.
void timeline_means(Timeline& timeline) {
  for (const TimelineBin& bin : timeline.bins) {
    timeline.submitting.busy_gpus += bin.busy_gpus / static_cast<double>(timeline.bins.size());
  }
}

// Adds [from, to) to the means of the bins it touches.
void spread(Timeline& timeline, std::pair<SimTime, SimTime> span, double TimelineBin::* member,
            double amount) {
  const Seconds step = timeline.step;
  for (SimTime t = span.first; t < span.second;) {
    const auto bin = static_cast<std::size_t>((t - timeline.first) / step);
    const SimTime end = std::min(span.second, timeline.first + step * (static_cast<int>(bin) + 1));
    if (timeline.bins.size() <= bin) timeline.bins.resize(bin + 1);
    timeline.bins[bin].*member +=
        amount * static_cast<double>((end - t).count()) / static_cast<double>(step.count());
    t = end;
  }
}

RunSummary run(const Trace& trace, const ClusterSpec& cluster, const Sketch& sketch) {
  RunRecord record{.run = {.label = sketch.label,
                           .policy = sketch.label,
                           .estimator = "last_k",
                           .mode = "repaired",
                           .settings = {{"placer", "consolidate"}, {"overhead_small_s", "40"}}},
                   .trace = trace,
                   .cluster = cluster,
                   .result = {}};
  record.result.total_gpus = 512;
  Random random(11);
  for (const Job& job : trace.jobs) {
    const JobOutcome outcome = draw(job, sketch, random);
    record.result.outcomes.push_back(outcome);
    if (outcome.status != JobStatus::finished) continue;
    Timeline& timeline = record.result.timeline;
    spread(timeline, {outcome.start, outcome.end}, &TimelineBin::busy_gpus, job.gpus);
    spread(timeline, {job.submit, outcome.start}, &TimelineBin::queued_jobs, 1);
  }
  for (TimelineBin& bin : record.result.timeline.bins) {
    bin.busy_gpus = std::min(bin.busy_gpus, 512.0);
  }
  timeline_means(record.result.timeline);
  return summarise(record);
}

int write_sample(const char* path) {
  const Trace trace = make_trace();
  const ClusterSpec cluster{{{.name = "vision", .nodes = 40, .gpu_type = ""},
                             {.name = "speech", .nodes = 24, .gpu_type = ""}}};
  std::vector<RunSummary> runs;
  for (const Sketch& sketch : sketches) runs.push_back(run(trace, cluster, sketch));
  const Experiment experiment{.trace_spec = "sample:made-up",
                              .cluster_spec = "",
                              .commit = "sample",
                              .trace = trace,
                              .cluster = cluster};
  std::fputs(results_table(runs, 0).c_str(), stdout);
  const Result<void> written = write_file(path, report_html(experiment, runs));
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return exit_code(written.error().code);
}

}  // namespace
}  // namespace schedmate

int main(int count, char** arguments) {
  if (count == 2) return schedmate::write_sample(arguments[1]);
  std::fprintf(stderr, "usage: sample_report FILE\n");
  return 2;
}
