// SPDX-License-Identifier: Apache-2.0
#include "queue/known_submissions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <schedmate/store.hpp>
#include <set>

#include "base/words.hpp"
#include "eta/told_run_time.hpp"
#include "service/advisor_state.hpp"
#include "service/job_use.hpp"

namespace schedmate::queue {
namespace {

constexpr Seconds past_days{28 * 86'400};

std::int32_t gpus_of(std::int64_t gpus) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, 1'000'000));
}

double whole(Seconds ran) { return FractionalSeconds(std::max(Seconds(1), ran)).count(); }

/// Nothing where its user read "not known". The advice is of how long the job holds its GPUs,
/// however it ends.
std::optional<RunTimeDistribution> told_by(const JobRecord& record, const std::string& user) {
  if (record.user != user || !record.advice) return std::nullopt;
  const GivenAdvice& advice = *record.advice;
  const bool known = advice.source != name_of(AdviceSource::none) && advice.p50.count() > 0 &&
                     (!advice.length || advice.length->told);
  if (!known) return std::nullopt;
  return RunTimeDistribution{advice.mean, advice.p10, advice.p50, advice.p90};
}

SimTime end_of(const JobRecord& record) {
  const Outcome& outcome = *record.outcome;
  if (outcome.start) return *outcome.start + outcome.duration;
  return outcome.end.value_or(record.submit);
}

/// Of an array every task has the advice that its submission got.
Result<std::optional<JobRecord>> record_of(Store& store, std::string_view id) {
  auto record = store.get(std::string(id));
  if (!record || *record || slurm::array_of(id) == id) return record;
  return store.get(std::string(slurm::array_of(id)));
}

}  // namespace

Result<KnownSubmissions> KnownSubmissions::read(const settings::Session& session,
                                                const slurm::ClusterQueue& queue,
                                                const std::string& wanted) {
  KnownSubmissions known(queue);
  if (auto read = known.read_history(session, wanted); !read) return tl::unexpected(read.error());
  known.add_queue();
  known.settle();
  return known;
}

Result<void> KnownSubmissions::read_history(const settings::Session& session,
                                            const std::string& wanted) {
  auto history = service::find_history_of_all(session);
  if (!history) return tl::unexpected(history.error());
  if (!*history) return {};
  Store& store = *(*history)->store;
  std::set<std::string_view> queued;
  for (std::size_t i = 0; i < queue_->jobs.size(); ++i) {
    const slurm::QueuedJob& job = queue_->jobs[i];
    queued.insert(slurm::array_of(job.id));
    const auto record = record_of(store, job.id);
    if (!record) return tl::unexpected(record.error());
    if (!*record) continue;
    if (const auto told = told_by(**record, job.user)) advised_[i] = *told;
  }
  const JobFilter filter{
      .finished = true, .limit = std::numeric_limits<std::size_t>::max(), .brief = true};
  return store.each(filter, [&](const JobRecord& record) {
    if (!record.outcome || record.submit >= queue_->now) return true;
    const bool ended = end_of(record) <= queue_->now;
    if (ended && record.id == wanted) end_of_wanted_ = service::end_word(record);
    // What had not ended is in the queue, which knows it as it was then.
    if (record.outcome->start && (ended || !queued.contains(slurm::array_of(record.id))))
      add(record);
    return true;
  });
}

void KnownSubmissions::add(const JobRecord& record) {
  const Outcome& outcome = *record.outcome;
  const SimTime start = *outcome.start;
  Row& row = rows_.emplace_back();
  row.job.user = users_.of(record.user);
  row.job.pool = partitions_.of(record.vc);
  row.job.gpus = gpus_of(record.gpus);
  row.job.submit = record.submit;
  row.limit = record.time_limit;
  if (start > queue_->now) return;
  row.job.start = start;
  row.job.ended = end_of(record) <= queue_->now;
  row.job.ran_s = whole(row.job.ended ? outcome.duration : queue_->now - start);
  runs_ += row.job.ended ? 1 : 0;
}

void KnownSubmissions::add_queue() {
  for (std::size_t i = 0; i < queue_->jobs.size(); ++i) {
    const slurm::QueuedJob& job = queue_->jobs[i];
    Row& row = rows_.emplace_back();
    row.job.user = users_.of(job.user);
    row.job.pool = partitions_.of(job.partitions.empty() ? "" : job.partitions.front());
    row.job.gpus = gpus_of(job.gpus);
    row.job.submit = job.submit;
    row.limit = job.limit;
    row.queued = i;
    if (!job.runs()) continue;
    row.job.start = job.start;
    row.job.ran_s = whole(queue_->now - *job.start);
  }
}

void KnownSubmissions::settle() {
  std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.job.submit; });
  stands_.resize(queue_->jobs.size());
  std::vector<eta::Submitted> submitted;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    submitted.push_back(rows_[i].job);
    if (rows_[i].queued) stands_[*rows_[i].queued] = i;
  }
  model_.emplace(std::move(submitted), queue_->now);
}

slurm::JobBelief KnownSubmissions::belief(std::size_t queued) const {
  const std::size_t row = stands_[queued];
  if (const auto told = advised_.find(queued); told != advised_.end())
    return {{.curve = std::make_shared<const RunTimeCurve>(eta::curve_of(told->second))},
            model_->burst(row),
            RunTimeSource::advisor};
  return {model_->belief(row), model_->burst(row),
          model_->has_own(row) ? RunTimeSource::user : RunTimeSource::site};
}

/// By ended jobs, in GPU seconds, what is long ago for less.
std::vector<double> KnownSubmissions::used_by_users(const slurm::Ranks& ranks) const {
  std::vector<double> used(users_.names().size());
  for (const Row& row : rows_)
    if (row.job.ended)
      used[row.job.user] += row.job.gpus * row.job.ran_s *
                            ranks.kept_since(*row.job.start + Seconds(std::llround(row.job.ran_s)));
  return used;
}

void KnownSubmissions::complete(slurm::SnapshotOfQueue& made) const {
  made.snapshot.site = model_->site();
  if (runs_ == 0)
    made.notes.emplace_back(
        "no past run times: `history import sacct:FILE` gives them; until then every job is taken "
        "to run as those that run now, and nothing new to be submitted");
  // The numbers of the snapshot's users, and others for everybody else.
  std::map<std::uint32_t, std::uint32_t> users;
  for (std::size_t i = 0; i < made.snapshot.jobs.size(); ++i)
    users[rows_[stands_[made.queued[i]]].job.user] = made.snapshot.jobs[i].user;
  std::uint32_t next = 0;
  for (const auto& [ours, theirs] : users) next = std::max(next, theirs + 1);
  const std::vector<double> used = used_by_users(made.ranks);
  for (std::size_t i = 0; i < made.snapshot.jobs.size(); ++i)
    if (auto& rank = made.snapshot.jobs[i].rank)
      rank->used_gpu_s = used[rows_[stands_[made.queued[i]]].job.user];
  std::optional<SimTime> newest;
  std::vector<PastSubmission> past;
  for (const Row& row : rows_) {
    const eta::Submitted& job = row.job;
    if (job.submit < queue_->now - past_days || job.submit >= queue_->now || job.gpus == 0)
      continue;
    const std::string& partition = partitions_.names()[job.pool];
    const auto place = made.places.find(partition);
    if (place == made.places.end()) continue;
    const auto [user, fresh] = users.try_emplace(job.user, next);
    if (fresh) ++next;
    past.push_back({.submit = job.submit,
                    .user = user->second,
                    .pool = place->second.pool,
                    .gpus = job.gpus,
                    .ran_s = job.start ? job.ran_s : 0,
                    .ended = job.ended,
                    .planned = slurm::planned_run_time(*queue_, row.limit, {&partition, 1}),
                    .nodes = place->second.nodes,
                    .rank = made.ranks.of({users_.names()[job.user], partition, job.gpus})});
    if (past.back().rank) past.back().rank->used_gpu_s = used[job.user];
    if (!row.queued) newest = job.submit;
  }
  if (newest) made.snapshot.past = std::move(past);
  if (runs_ > 0 && !newest)
    made.notes.emplace_back(
        "the history has no submissions of the last 28 days to these partitions, so nothing new is "
        "taken to be submitted: `history import sacct:FILE` adds newer ones");
  constexpr Seconds late{2 * 86'400};
  if (newest && queue_->now - *newest > late)
    made.notes.push_back(fmt::format(
        "the history's last submission to these partitions is {} older than this queue: too few "
        "new ones are taken to come (`history import sacct:FILE` adds newer ones)",
        in_words(queue_->now - *newest)));
}

}  // namespace schedmate::queue
