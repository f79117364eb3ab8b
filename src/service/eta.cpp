// SPDX-License-Identifier: Apache-2.0
#include "service/eta.hpp"

#include <fmt/format.h>

#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>

#include "base/slurm_time.hpp"
#include "base/words.hpp"
#include "eta/replayed_queue.hpp"
#include "service/held_input.hpp"
#include "service/redaction.hpp"
#include "study/policy_spec.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

Result<std::string> trace_spec(const EtaRequest& request) {
  constexpr std::string_view kind = "trace:";
  if (request.from.starts_with(kind)) return request.from.substr(kind.size());
  return fail(ErrorCode::unsupported,
              fmt::format("--from {}: write trace:FORMAT:PATH (formats: schedmate list)",
                          printable(request.from)));
}

/// On the trace's clock.
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

/// What a replay of it needs, and what it saw when each job entered.
struct Replayed {
  Scheduler scheduler;
  SimResult result;
  std::vector<Seconds> planned, limits;
};

Result<Scheduler> scheduler_of(const study::PolicySpec& policy, const ClusterSpec& cluster,
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

Result<Replayed> replay(const settings::Session& session, const study::PolicySpec& policy,
                        const Trace& trace, const ClusterSpec& cluster) {
  const auto seed = static_cast<std::uint64_t>(session.settings.whole("seed"));
  auto scheduler = scheduler_of(policy, cluster, seed);
  if (!scheduler) return tl::unexpected(scheduler.error());
  Replayed made{.scheduler = std::move(*scheduler), .result = {}, .planned = {}, .limits = {}};
  const std::string host = policy.estimator.empty() ? made.scheduler.estimator : policy.estimator;
  auto estimator = make_estimator(made.scheduler, host, {.seed = seed, .truth = Truth(trace)});
  if (!estimator) return tl::unexpected(estimator.error());
  made.planned.resize(trace.jobs.size());
  SimOptions options;
  options.threads = static_cast<int>(session.settings.whole("threads"));
  options.seed = seed;
  options.estimator =
      watched(std::move(*estimator), [&](const EnteringJob& entering, const Prediction& said) {
        made.planned[entering.job.number] =
            Seconds(static_cast<std::int64_t>(said.run_time.count()));
      });
  if (host.starts_with("limit")) made.limits.resize(trace.jobs.size());
  auto result = simulate(trace, cluster, made.scheduler, options);
  if (!result) return tl::unexpected(result.error());
  made.result = std::move(*result);
  if (!made.limits.empty()) made.limits = made.planned;
  return made;
}

Document quantiles_of(const InstantQuantiles& told) {
  const auto one = [](SimTime when) {
    return when == never ? Document(nullptr) : Document(seconds_of(when));
  };
  return {{"p10", one(told.p10)}, {"p50", one(told.p50)}, {"p90", one(told.p90)}};
}

}  // namespace

Result<Eta> eta(const settings::Session& session, const EtaRequest& request) {
  const auto spec = trace_spec(request);
  if (!spec) return tl::unexpected(spec.error());
  const auto policy = study::parse_policy(redacted(request.policy));
  if (!policy) return tl::unexpected(policy.error());
  if (auto plain = study::check_not_elastic({&*policy, 1}); !plain)
    return tl::unexpected(plain.error());
  const ReadOptions options{.strict = session.settings.flag("strict"), .columns = {}};
  const auto trace =
      read_held(*spec, [&](const std::string& held) { return read_trace(held, options); });
  if (!trace) return tl::unexpected(trace.error());
  const auto cluster = [&]() -> Result<ClusterSpec> {
    if (!request.cluster.empty()) return read_cluster(request.cluster);
    if (trace->cluster) return *trace->cluster;
    return fail(ErrorCode::unsupported,
                fmt::format("{} does not describe its cluster: give one with --cluster FILE",
                            redacted(*spec)));
  }();
  if (!cluster) return tl::unexpected(cluster.error());
  const auto now = instant_of(request.at, *trace);
  if (!now) return tl::unexpected(now.error());
  const auto replayed = replay(session, *policy, *trace, *cluster);
  if (!replayed) return tl::unexpected(replayed.error());
  const eta::ReplayedQueue queue(
      {*trace, *cluster, replayed->result.outcomes, replayed->planned, replayed->limits});
  Eta made{
      .policy = policy->text, .snapshot = queue.snapshot_at(*now), .users = {}, .forecast = {}};
  for (const SnapshotJob& job : made.snapshot.jobs) made.users.push_back(trace->users[job.user]);
  auto forecast =
      forecast_queue(made.snapshot, replayed->scheduler,
                     {.samples = request.samples,
                      .seed = static_cast<std::uint64_t>(session.settings.whole("seed")),
                      .threads = static_cast<int>(session.settings.whole("threads"))});
  if (!forecast) return tl::unexpected(forecast.error());
  made.forecast = std::move(*forecast);
  return made;
}

std::string block_in_words(const Eta& eta, std::size_t job) {
  const JobForecast& told = eta.forecast.jobs[job];
  const SnapshotJob& asked = eta.snapshot.jobs[job];
  const std::string& pool = eta.snapshot.pools[asked.pool].name;
  switch (told.block) {
    case QueueBlock::none:
      return "";
    case QueueBlock::gpus:
      return fmt::format("too few GPUs of {} are free", pool);
    case QueueBlock::fragmentation:
      return fmt::format("enough GPUs of {} are free, but on too many nodes", pool);
    case QueueBlock::priority:
      return fmt::format("other jobs of {} go first", pool);
    case QueueBlock::too_large:
      return fmt::format("{} has fewer than {} GPUs: it never starts", pool, asked.gpus);
    case QueueBlock::too_early:
      return "it may not start yet";
    case QueueBlock::kept_out:
      break;
  }
  return "something other than the queue keeps it";
}

Document eta_document(const Eta& eta) {
  Document document = {{"schema", "schedmate.eta.v1"},
                       {"now", seconds_of(eta.snapshot.now)},
                       {"policy", eta.policy},
                       {"samples", eta.forecast.samples},
                       {"jobs", Document::array()}};
  for (std::size_t i = 0; i < eta.snapshot.jobs.size(); ++i) {
    const SnapshotJob& job = eta.snapshot.jobs[i];
    const JobForecast& told = eta.forecast.jobs[i];
    Document blocked = nullptr;
    if (told.block != QueueBlock::none) {
      Document jobs = Document::array();
      for (const JobForecast::Awaited& awaited : told.awaited)
        jobs.push_back(eta.snapshot.jobs[awaited.job].id);
      blocked = {{"reason", name_of(told.block)},
                 {"text", block_in_words(eta, i)},
                 {"jobs", std::move(jobs)}};
    }
    document["jobs"].push_back(
        {{"job_id", job.id},
         {"user", eta.users[i]},
         {"state", job.started ? "running" : "waiting"},
         {"gpus", job.gpus},
         {"partition", eta.snapshot.pools[job.pool].name},
         {"submit_s", seconds_of(job.submit)},
         {"start_s", told.start ? quantiles_of(*told.start) : Document(nullptr)},
         {"end_s", quantiles_of(told.end)},
         {"blocked_by", std::move(blocked)},
         {"by", name_of(job.source)}});
  }
  return document;
}

}  // namespace schedmate::service
