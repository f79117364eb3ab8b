// SPDX-License-Identifier: Apache-2.0
#include "queue/eta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/words.hpp"
#include "eta/told_run_time.hpp"
#include "queue/cluster_queue.hpp"
#include "queue/eta_calibration.hpp"
#include "queue/eta_replay.hpp"
#include "queue/known_submissions.hpp"
#include "queue/running_logs.hpp"
#include "secrets/outgoing.hpp"
#include "slurm/site_policy.hpp"
#include "slurm/snapshot.hpp"

namespace schedmate::queue {

std::string block_in_words(QueueBlock block, const std::string& pool, std::int64_t gpus) {
  switch (block) {
    case QueueBlock::none:
      return "";
    case QueueBlock::gpus:
      return fmt::format("too few GPUs of {} are free", pool);
    case QueueBlock::fragmentation:
      return fmt::format("enough GPUs of {} are free, but on too many nodes", pool);
    case QueueBlock::priority:
      return fmt::format("other jobs of {} go first", pool);
    case QueueBlock::too_large:
      return fmt::format("{} has fewer than {} GPUs: it never starts", pool, gpus);
    case QueueBlock::too_early:
      return "it may not start yet";
    case QueueBlock::shared_limit:
      return "those who share its limit have taken all of it";
    case QueueBlock::kept_out:
      break;
  }
  return "something other than the queue keeps it";
}

namespace {

/// Where the job that is asked for stands among those that wait and run.
Result<std::optional<std::size_t>> place_of(const std::vector<EtaJob>& jobs,
                                            const EtaRequest& request,
                                            const std::function<std::string()>& elsewhere) {
  if (request.job.empty()) return std::nullopt;
  std::optional<std::size_t> found;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const EtaJob& job = jobs[i];
    if (job.of_same_array) continue;
    if (job.id == request.job) return i;
    names.push_back(job.id);
    // Of an array what waits comes first.
    if (slurm::may_mean(request.job, job.id) && (!found || jobs[*found].started)) found = i;
  }
  if (found) return found;
  std::string known = elsewhere();
  if (known.empty()) {
    known = "no job of this id waits or runs here";
    if (const auto near = nearest(request.job, names); !near.empty())
      known += fmt::format(" (nearest: {})", printable(near));
  }
  return fail(ErrorCode::not_found, fmt::format("job {}: {}", printable(request.job), known));
}

/// Without what only the source of the snapshot knows.
std::vector<EtaJob> jobs_of(const QueueSnapshot& snapshot) {
  std::vector<EtaJob> jobs;
  for (const SnapshotJob& job : snapshot.jobs) {
    EtaJob& each = jobs.emplace_back();
    each.id = job.id;
    each.partition = snapshot.pools[job.pool].name;
    each.gpus = job.gpus;
    each.submit = job.submit;
    each.started = job.started;
    each.by = job.source;
  }
  return jobs;
}

/// Goes on from the snapshot. `made` has all but that.
Result<QueueWithForecast> with_forecast(const settings::Session& session, const EtaRequest& request,
                                        QueueWithForecast made) {
  const QueueSnapshot& snapshot = made.snapshot;
  auto forecast = forecast_queue(snapshot, made.scheduler, made.options);
  if (!forecast) return tl::unexpected(forecast.error());
  made.forecast = *std::move(forecast);
  const auto kept = kept_calibration(
      session, calibration_key(request, made.eta.cluster, made.eta.policy), snapshot.now);
  if (!kept) return tl::unexpected(kept.error());
  if (*kept) {
    calibrate(made.forecast, snapshot, (*kept)->calibration);
    made.eta.calibrated_on = (*kept)->forecasts;
  }
  made.eta.now = snapshot.now;
  made.eta.samples = made.forecast.samples;
  for (const PartitionSpec& pool : snapshot.pools)
    made.eta.gpus += std::int64_t{pool.nodes} * pool.gpus_per_node;
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    EtaJob& each = made.eta.jobs[i];
    const JobForecast& told = made.forecast.jobs[i];
    each.start = told.start;
    each.end = told.end;
    if (each.started) continue;
    if (each.reason.empty()) {
      each.reason = name_of(told.block);
      each.text = block_in_words(told.block, snapshot.pools[snapshot.jobs[i].pool].name, each.gpus);
    }
    if (!each.awaited.empty()) continue;  // the scheduler's own are known
    for (const JobForecast::Awaited& awaited : told.awaited) {
      const std::string& id = made.eta.jobs[awaited.job].id;
      const auto other = std::ranges::find(each.awaited, id, &EtaJob::Awaited::id);
      if (other == each.awaited.end())
        each.awaited.push_back({id, awaited.share, awaited.job});
      else  // another task of that array
        other->share = std::min(1.0, other->share + awaited.share);
    }
  }
  return made;
}

/// A user may use the pools that took a job of his before.
std::vector<QueueWithForecast::Choice> choices_of(const QueueSnapshot& snapshot) {
  std::map<std::uint32_t, std::set<std::uint32_t>> pools;
  for (const PastSubmission& past : snapshot.past) pools[past.user].insert(past.pool);
  std::vector<QueueWithForecast::Choice> choices;
  for (const SnapshotJob& job : snapshot.jobs) {
    auto& choice = choices.emplace_back();
    for (const std::uint32_t pool : pools[job.user]) {
      if (pool == job.pool || pool >= snapshot.pools.size()) continue;
      choice.change.pools.push_back(pool);
      choice.partitions.push_back(snapshot.pools[pool].name);
    }
  }
  return choices;
}

void tell_outcomes(std::vector<EtaJob>& jobs, const std::vector<std::uint32_t>& rows,
                   const SimResult& result) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobOutcome& outcome = result.outcomes[rows[i]];
    if (!jobs[i].started) jobs[i].started_then = outcome.started ? outcome.start : never;
    jobs[i].ended_then = outcome.status == JobStatus::finished ? outcome.end : never;
  }
}

Result<QueueWithForecast> forecast_of_trace(const settings::Session& session,
                                            const EtaRequest& request,
                                            const study::PolicySpec& policy) {
  auto replayed = replay_of(session, request, policy);
  if (!replayed) return tl::unexpected(replayed.error());
  const Trace& trace = replayed->trace;
  const SimTime now = replayed->now;
  QueueWithForecast made;
  const eta::ReplayedQueue queue(replayed->replay.view(trace, replayed->cluster));
  made.snapshot = queue.snapshot_at(now);
  made.eta.policy = policy.text;
  made.eta.jobs = jobs_of(made.snapshot);
  for (std::size_t i = 0; i < made.eta.jobs.size(); ++i)
    made.eta.jobs[i].user = trace.users[made.snapshot.jobs[i].user];
  if (request.outcome) tell_outcomes(made.eta.jobs, queue.rows_at(now), replayed->replay.result);
  const auto asked = place_of(made.eta.jobs, request, [&]() -> std::string {
    const auto job = std::ranges::find(trace.jobs, request.job, &Job::id);
    if (job == trace.jobs.end()) return "";
    return job->submit > now ? "it was not submitted by then" : "it had ended by then";
  });
  if (!asked) return tl::unexpected(asked.error());
  made.asked = *asked;
  for (const PastSubmission& past : made.snapshot.past) made.past_runs += past.ended ? 1 : 0;
  made.choices = choices_of(made.snapshot);
  made.scheduler = std::move(replayed->replay.scheduler);
  made.options = options_of(session, request);
  return with_forecast(session, request, std::move(made));
}

/// What only Slurm knows of the jobs.
void tell_of_slurm(const slurm::ClusterQueue& queue, const slurm::SnapshotOfQueue& cluster,
                   QueueWithForecast& made) {
  for (std::size_t i = 0; i < made.eta.jobs.size(); ++i) {
    const slurm::QueuedJob& job = queue.jobs[cluster.queued[i]];
    EtaJob& each = made.eta.jobs[i];
    each.id = job.id;
    each.user = job.user;
    each.submit = job.submit;
    each.partition = fmt::format("{}", fmt::join(job.partitions, ","));
    each.of_same_array = i > 0 && cluster.queued[i] == cluster.queued[i - 1];
    each.tasks = job.tasks_of_array;
    auto& choice = made.choices.emplace_back();
    if (!job.waits()) continue;
    const slurm::Blocker& blocker = cluster.blockers[i];
    each.scheduler_says = job.reason;
    each.reason = blocker.kind;
    each.text = blocker.text;
    for (const std::string& id : blocker.jobs) each.awaited.push_back({id, 1, {}});
    choice.change.limit_to_start_now = blocker.limit_to_start_now;
    choice.change.release = blocker.kind == "held" || blocker.kind == "begin_time";
    for (const slurm::Partition& partition : queue.partitions) {
      const auto place = cluster.places.find(partition.name);
      if (place == cluster.places.end() || place->second.pool == cluster.snapshot.jobs[i].pool ||
          !partition.takes(job))
        continue;
      choice.change.pools.push_back(place->second.pool);
      choice.change.nodes.push_back(place->second.nodes);
      choice.partitions.push_back(partition.name);
    }
  }
}

std::vector<std::string> notes_of_nodes(const QueueSnapshot& snapshot, const Scheduler& scheduler) {
  const auto restricted = std::ranges::count_if(
      snapshot.jobs, [](const SnapshotJob& job) { return job.nodes != nullptr; });
  if (scheduler.heeds_nodes || restricted == 0) return {};
  return {fmt::format(
      "{} jobs may use some nodes only (of their partition, or that they name): this policy takes "
      "them to be able to use all, slurm_backfill does not",
      restricted)};
}

Result<QueueWithForecast> forecast_of_cluster(const settings::Session& session,
                                              const EtaRequest& request) {
  if (auto checked = check_of_cluster(request); !checked) return tl::unexpected(checked.error());
  const auto queue = read_cluster_queue(session, request.from);
  if (!queue) return tl::unexpected(queue.error());
  const slurm::SitePolicy site = slurm::site_policy(*queue);
  const auto policy = policy_of(request, site.text);
  if (!policy) return tl::unexpected(policy.error());
  const std::string source = request.from.empty() ? "slurm" : request.from;
  const auto known = KnownSubmissions::read(session, *queue, request.job);
  if (!known) return tl::unexpected(known.error());
  const auto logs = read_running_logs(session, *queue);
  if (!logs) return tl::unexpected(logs.error());
  auto cluster = slurm::snapshot_of(*queue, [&](const slurm::QueuedJob& job) {
    const auto i = static_cast<std::size_t>(&job - queue->jobs.data());
    slurm::JobBelief belief = known->belief(i);
    if (const auto told = logs->told.find(i); told != logs->told.end()) {
      belief.run_time = eta::with_progress(*belief.run_time.curve, told->second);
      belief.source = RunTimeSource::progress;
    }
    return belief;
  });
  if (!cluster)
    return fail(cluster.error().code, fmt::format("{}: {}", source, cluster.error().message));
  known->complete(*cluster);
  auto scheduler =
      study::plain_scheduler(*policy, ClusterSpec{cluster->snapshot.pools},
                             static_cast<std::uint64_t>(session.settings.whole("seed")));
  if (!scheduler) return tl::unexpected(scheduler.error());
  QueueWithForecast made;
  made.eta.policy = policy->text;
  made.eta.cluster = queue->cluster;
  made.eta.jobs = jobs_of(cluster->snapshot);
  if (request.policy.empty()) made.eta.site_settings = site.settings;
  const std::vector<std::string> none;
  for (const auto& notes :
       {queue->notes, cluster->notes, logs->notes, request.policy.empty() ? site.notes : none,
        notes_of_nodes(cluster->snapshot, *scheduler)})
    made.eta.notes.insert(made.eta.notes.end(), notes.begin(), notes.end());
  made.past_runs = known->runs();
  tell_of_slurm(*queue, *cluster, made);
  const auto asked = place_of(made.eta.jobs, request, [&]() -> std::string {
    const auto ended = queue->ended.find(request.job);
    const std::string state = ended != queue->ended.end() ? ended->second : known->end_of_wanted();
    if (state.empty()) return "";
    return fmt::format("it has ended ({}): `schedmate job {}` shows it", printable(state),
                       printable(request.job));
  });
  if (!asked) return tl::unexpected(asked.error());
  made.asked = *asked;
  made.snapshot = std::move(cluster->snapshot);
  made.scheduler = *std::move(scheduler);
  made.options = options_of(session, request);
  auto with = with_forecast(session, request, std::move(made));
  if (!with) return fail(with.error().code, fmt::format("{}: {}", source, with.error().message));
  return with;
}

}  // namespace

std::string note_of_other_resources(std::span<const EtaJob> jobs) {
  constexpr std::array<std::string_view, 3> reasons{"cpus", "memory", "node_busy"};
  const auto count = std::ranges::count_if(jobs, [&](const EtaJob& job) {
    return std::ranges::find(reasons, job.reason) != reasons.end();
  });
  return count == 0 ? ""
                    : fmt::format(
                          "the replay counts GPUs, not CPUs, memory or named nodes: {} may "
                          "start later for want of these",
                          counted(count, "job"));
}

Document instant_document(SimTime when) {
  return when == never ? Document(nullptr) : Document(seconds_of(when));
}

Document quantiles_document(const InstantQuantiles& instants) {
  return {{"p10", instant_document(instants.p10)},
          {"p50", instant_document(instants.p50)},
          {"p90", instant_document(instants.p90)}};
}

Result<QueueWithForecast> forecast_of(const settings::Session& session, const EtaRequest& request) {
  const auto policy = policy_of(request);
  if (!policy) return tl::unexpected(policy.error());
  return is_trace(request) ? forecast_of_trace(session, request, *policy)
                           : forecast_of_cluster(session, request);
}

Result<Eta> eta(const settings::Session& session, const EtaRequest& request) {
  auto made = forecast_of(session, request);
  if (!made) return tl::unexpected(made.error());
  Eta list = std::move(made->eta);
  std::vector<EtaJob> jobs;
  for (std::size_t i = made->asked.value_or(0); i < list.jobs.size(); ++i) {
    EtaJob& each = list.jobs[i];
    if (each.of_same_array)
      for (const auto at : instants_of_shares)
        jobs.back().end.*at = std::max(jobs.back().end.*at, each.end.*at);
    else if (made->asked && i > *made->asked)
      break;
    else
      jobs.push_back(std::move(each));
  }
  list.jobs = std::move(jobs);
  if (made->asked) list.gpus = 0;
  if (std::string note = note_of_other_resources(list.jobs); !note.empty())
    list.notes.push_back(std::move(note));
  return list;
}

Document eta_document(const Eta& eta) {
  Document document = {{"schema", "schedmate.eta.v1"},
                       {"now", seconds_of(eta.now)},
                       {"cluster", eta.cluster.empty() ? Document(nullptr) : Document(eta.cluster)},
                       {"policy", eta.policy},
                       {"site_settings", eta.site_settings},
                       {"samples", eta.samples},
                       {"calibrated_on", eta.calibrated_on},
                       {"jobs", Document::array()},
                       {"notes", eta.notes}};
  for (const EtaJob& job : eta.jobs) {
    Document blocked = nullptr;
    if (!job.started && job.reason != name_of(QueueBlock::none)) {
      Document jobs = Document::array();
      for (const EtaJob::Awaited& awaited : job.awaited) jobs.push_back(awaited.id);
      blocked = {{"reason", job.reason}, {"text", job.text}, {"jobs", std::move(jobs)}};
    }
    Document row = {{"job_id", job.id},
                    {"user", job.user},
                    {"state", job.started ? "running" : "waiting"},
                    {"gpus", job.gpus},
                    {"tasks", job.tasks},
                    {"partition", job.partition},
                    {"submit_s", seconds_of(job.submit)},
                    {"start_s", job.start ? quantiles_document(*job.start) : Document(nullptr)},
                    {"end_s", quantiles_document(job.end)},
                    {"blocked_by", std::move(blocked)},
                    {"by", name_of(job.by)}};
    if (job.ended_then)
      row["outcome"] = {
          {"start_s", job.started_then ? instant_document(*job.started_then) : Document(nullptr)},
          {"end_s", instant_document(*job.ended_then)}};
    document["jobs"].push_back(std::move(row));
  }
  return document;
}

}  // namespace schedmate::queue
