// SPDX-License-Identifier: Apache-2.0
#include "study/trace_queue.hpp"

#include <fmt/format.h>

#include "base/slurm_time.hpp"
#include "base/words.hpp"
#include "trace/values.hpp"

namespace schedmate::study {
Result<SimTime> instant_of(const std::string& text, const Trace& trace) {
  const SimTime first = trace.jobs.front().submit;
  const SimTime last = trace.jobs.back().submit;
  std::optional<SimTime> made;
  if (text.starts_with('+')) {
    if (const auto after = parse_duration(std::string_view(text).substr(1))) made = first + *after;
  } else if (const auto seconds = trace::parse_time(text)) {
    made = at(*seconds);
  }
  if (!made)
    return fail(ErrorCode::unsupported,
                fmt::format("--at {}: write seconds of the trace's clock, a date, or +5d after its "
                            "first submission",
                            printable(text)));
  if (*made < first || *made > last)
    return fail(ErrorCode::unsupported,
                fmt::format("--at {}: the trace's submissions are from {} to {}", printable(text),
                            seconds_of(first), seconds_of(last)));
  return *made;
}

Result<Scheduler> plain_scheduler(const PolicySpec& policy, const ClusterSpec& cluster,
                                  std::uint64_t seed) {
  auto scheduler = make_scheduler(policy.name, {cluster, {}, seed}, PolicyOptions(policy.options));
  if (!scheduler) return scheduler;
  if (scheduler->profiler || scheduler->packs || scheduler->counts_down)
    return fail(ErrorCode::unsupported,
                fmt::format("policy {}: a forecast needs one that lets jobs run to their end on "
                            "GPUs of their own, such as fifo, backfill_easy or slurm_backfill",
                            policy.name));
  if (!scheduler->advice.empty())
    return fail(
        ErrorCode::unsupported,
        fmt::format("policy {}: a trace has no Advisor to ask; name its host", policy.name));
  return scheduler;
}

Result<TraceReplay> replay_trace(const Trace& trace, const ClusterSpec& cluster,
                                 const PolicySpec& policy, const ReplayOptions& how) {
  auto scheduler = plain_scheduler(policy, cluster, how.seed);
  if (!scheduler) return tl::unexpected(scheduler.error());
  TraceReplay made{.scheduler = std::move(*scheduler), .result = {}, .planned = {}, .limits = {}};
  const std::string host = policy.estimator.empty() ? made.scheduler.estimator : policy.estimator;
  auto estimator = make_estimator(made.scheduler, host, {.seed = how.seed, .truth = Truth(trace)});
  if (!estimator) return tl::unexpected(estimator.error());
  made.planned.resize(trace.jobs.size());
  SimOptions options;
  options.threads = how.threads;
  options.seed = how.seed;
  options.estimator =
      watched(std::move(*estimator), [&](const EnteringJob& entering, const Prediction& said) {
        made.planned[entering.job.number] =
            Seconds(static_cast<std::int64_t>(said.run_time.count()));
      });
  auto result = simulate(trace, cluster, made.scheduler, options);
  if (!result) return tl::unexpected(result.error());
  made.result = std::move(*result);
  if (host.starts_with("limit")) made.limits = made.planned;
  return made;
}

}  // namespace schedmate::study
