// SPDX-License-Identifier: Apache-2.0
#include "queue/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/words.hpp"

namespace schedmate::queue {
namespace {

/// In most samples.
bool starts_before(const JobForecast& other, const JobForecast& job) {
  const std::size_t pairs = std::min(other.waits_s.size(), job.waits_s.size());
  std::size_t before = 0;
  for (std::size_t i = 0; i < pairs; ++i) before += other.waits_s[i] < job.waits_s[i] ? 1 : 0;
  return 2 * before > pairs;
}

void count(Why::RestsOn& rests_on, RunTimeSource by) {
  const bool of_job = by == RunTimeSource::progress || by == RunTimeSource::advisor;
  (of_job ? rests_on.of_job : by == RunTimeSource::site ? rests_on.of_site : rests_on.of_user) += 1;
}

/// What stands before it and what runs beside it.
void add_others(const QueueWithForecast& queue, std::size_t job, Why& made) {
  const auto& jobs = queue.snapshot.jobs;
  std::set<std::uint32_t> users;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i == job || jobs[i].pool != jobs[job].pool) continue;
    const bool before = !jobs[i].started && !jobs[job].kept_out &&
                        starts_before(queue.forecast.jobs[i], queue.forecast.jobs[job]);
    if (jobs[i].started || before) count(made.rests_on, jobs[i].source);
    if (!before) continue;
    ++made.before.jobs;
    made.before.gpus += jobs[i].gpus;
    users.insert(jobs[i].user);
  }
  made.before.users = std::ssize(users);
  made.rests_on.past_runs = queue.past_runs;
}

void add_notes(Why& made) {
  if (std::string note = note_of_other_resources({&made.job, 1}); !note.empty())
    made.notes.push_back(std::move(note));
  if (made.calibrated_on > 0 && !made.earlier.empty())
    made.notes.emplace_back(
        "what starts it earlier is judged by the samples as they are, not calibrated");
}

void add_awaited(const QueueWithForecast& queue, Why& made) {
  for (const EtaJob::Awaited& awaited : made.job.awaited) {
    Why::Awaited& each = made.awaited.emplace_back();
    each.id = awaited.id;
    each.share = awaited.share;
    const auto& jobs = queue.eta.jobs;
    const auto found = awaited.job ? jobs.begin() + static_cast<std::ptrdiff_t>(*awaited.job)
                                   : std::ranges::find(jobs, awaited.id, &EtaJob::id);
    if (found == jobs.end()) continue;
    each.user = found->user;
    each.gpus = found->gpus;
    each.end = found->end;
  }
}

std::string in_plain_words(const Earlier& what, const EtaJob& job, const SnapshotJob& as_it_is,
                           const std::string& partition) {
  switch (what.change) {
    case JobChange::gpus:
      return fmt::format("{} instead of {}; it will run the longer for it",
                         counted(what.job.gpus, "GPU"), as_it_is.gpus);
    case JobChange::limit:
      return fmt::format("a time limit of {} instead of {}; {} of its likely run times are within",
                         in_words(*what.job.limit), in_words(*as_it_is.limit),
                         what.covers == 1 ? "all" : fmt::format("{:.0f} %", 100 * what.covers));
    case JobChange::pool:
      return fmt::format("partition {} instead of {}", partition, job.partition);
    case JobChange::release:
      break;
  }
  if (job.reason == "begin_time") return "no begin time (scontrol update StartTime=now)";
  return job.scheduler_says.contains("Admin") ? "released by an administrator"
                                              : "released (scontrol release)";
}

Result<void> add_earlier(const QueueWithForecast& queue, std::size_t job, Why& made) {
  const auto& choice = queue.choices[job];
  auto found =
      what_starts_earlier(queue.snapshot, queue.scheduler, queue.options, {job, choice.change});
  if (!found) return tl::unexpected(found.error());
  for (Earlier& what : *found) {
    Why::Change& each = made.earlier.emplace_back();
    if (what.change == JobChange::pool) {
      const auto at = std::ranges::find(choice.change.pools, what.job.pool);
      each.partition =
          choice.partitions[static_cast<std::size_t>(at - choice.change.pools.begin())];
    }
    each.text = in_plain_words(what, made.job, queue.snapshot.jobs[job], each.partition);
    each.what = std::move(what);
  }
  return {};
}

Document change_document(const Why::Change& change) {
  const Earlier& what = change.what;
  Document made = {{"change", what.change == JobChange::pool ? "partition" : name_of(what.change)},
                   {"text", change.text}};
  if (what.change == JobChange::gpus) made["gpus"] = what.job.gpus;
  if (what.change == JobChange::limit) {
    made["limit_s"] = what.job.limit->count();
    made["covers"] = what.covers;
  }
  if (what.change == JobChange::pool) made["partition"] = change.partition;
  made["start_s"] = instant_document(what.after);
  made["instead_of_s"] = instant_document(what.before);
  made["share"] = what.share;
  return made;
}

}  // namespace

Result<Why> why(const settings::Session& session, const EtaRequest& request) {
  const auto queue = forecast_of(session, request);
  if (!queue) return tl::unexpected(queue.error());
  const std::size_t job = queue->asked.value();
  Why made;
  made.now = queue->eta.now;
  made.cluster = queue->eta.cluster;
  made.policy = queue->eta.policy;
  made.site_settings = queue->eta.site_settings;
  made.samples = queue->eta.samples;
  made.calibrated_on = queue->eta.calibrated_on;
  made.job = queue->eta.jobs[job];
  made.notes = queue->eta.notes;
  if (made.job.started) {
    made.rests_on.past_runs = queue->past_runs;
    count(made.rests_on, made.job.by);
    return made;
  }
  add_others(*queue, job, made);
  add_awaited(*queue, made);
  if (auto added = add_earlier(*queue, job, made); !added) return tl::unexpected(added.error());
  add_notes(made);
  return made;
}

Document why_document(const Why& why) {
  const EtaJob& job = why.job;
  Document document = {
      {"schema", "schedmate.why.v1"},
      {"now", seconds_of(why.now)},
      {"cluster", why.cluster.empty() ? Document(nullptr) : Document(why.cluster)},
      {"policy", why.policy},
      {"site_settings", why.site_settings},
      {"samples", why.samples},
      {"job_id", job.id},
      {"user", job.user},
      {"partition", job.partition},
      {"gpus", job.gpus},
      {"state", job.started ? "running" : "waiting"},
      {"submit_s", seconds_of(job.submit)},
      {"started_s", job.started ? instant_document(*job.started) : Document(nullptr)},
      {"start_s", job.start ? quantiles_document(*job.start) : Document(nullptr)},
      {"end_s", quantiles_document(job.end)}};
  Document blocked = nullptr;
  if (!job.started && job.reason != name_of(QueueBlock::none))
    blocked = {{"reason", job.reason},
               {"text", job.text},
               {"scheduler_says",
                job.scheduler_says.empty() ? Document(nullptr) : Document(job.scheduler_says)}};
  document["blocked_by"] = std::move(blocked);
  document["before"] = {
      {"jobs", why.before.jobs}, {"users", why.before.users}, {"gpus", why.before.gpus}};
  document["awaited"] = Document::array();
  for (const Why::Awaited& each : why.awaited)
    document["awaited"].push_back(
        {{"job_id", each.id},
         {"user", each.user},
         {"gpus", each.gpus},
         {"share", each.share},
         {"end_s", each.end ? quantiles_document(*each.end) : Document(nullptr)}});
  document["rests_on"] = {{"past_runs", why.rests_on.past_runs},
                          {"run_times_of_job", why.rests_on.of_job},
                          {"run_times_of_user", why.rests_on.of_user},
                          {"run_times_of_site", why.rests_on.of_site},
                          {"calibrated", why.calibrated_on > 0}};
  document["earlier"] = Document::array();
  for (const Why::Change& each : why.earlier) document["earlier"].push_back(change_document(each));
  document["notes"] = why.notes;
  return document;
}

}  // namespace schedmate::queue
