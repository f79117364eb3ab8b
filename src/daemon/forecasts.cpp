// SPDX-License-Identifier: Apache-2.0
#include "daemon/forecasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "daemon/order_effect.hpp"
#include "queue/eta.hpp"
#include "queue/running_logs.hpp"

namespace schedmate::daemon {
namespace {

/// Pools and the place of each node in them.
struct Pools {
  std::vector<PartitionSpec> specs;
  std::map<std::string, std::uint32_t> numbers;
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> node_numbers;  // pool, place
  std::vector<NodeChange> changes;

  explicit Pools(const Listing& listing) {
    for (const SeenNode& node : listing.nodes) {
      const auto [found, fresh] =
          numbers.try_emplace(node.partition, static_cast<std::uint32_t>(specs.size()));
      if (fresh) {
        PartitionSpec& spec = specs.emplace_back();
        spec.name = node.partition;
        spec.gpus_per_node = std::clamp(node.gpus, 1, 64);
      }
      PartitionSpec& spec = specs[found->second];
      if (node.gpus != spec.gpus_per_node) continue;
      const auto number = static_cast<std::uint32_t>(spec.nodes++);
      node_numbers[node.name] = {found->second, number};
      if (node.state != NodeState::up)
        changes.push_back({listing.now, found->second, number, node.state});
    }
  }

  /// Empty where a GPU is not known, or of another pool: a placer then finds some.
  [[nodiscard]] Placement where(const SeenJob& job, std::uint32_t pool) const {
    Placement placed;
    for (const NodeGpus& each : job.nodes) {
      const auto node = node_numbers.find(each.node);
      if (node == node_numbers.end() || node->second.first != pool || each.gpus.empty()) return {};
      Slice& slice = placed.emplace_back(Slice{node->second.second, 0});
      for (const std::int32_t gpu : each.gpus)
        if (gpu >= 0 && gpu < 64) slice.gpus |= std::uint64_t{1} << gpu;
    }
    int gpus = 0;
    for (const Slice& slice : placed) gpus += std::popcount(slice.gpus);
    return gpus == job.gpus ? placed : Placement();
  }
};

/// That of its nodes while it runs: lucid's profiler is another one than its jobs were submitted
/// to.
std::uint32_t pool_of(const SeenJob& job, const Pools& pools) {
  if (job.phase == JobPhase::running && !job.nodes.empty())
    if (const auto node = pools.node_numbers.find(job.nodes.front().node);
        node != pools.node_numbers.end())
      return node->second.first;
  return pools.numbers.at(job.partition);
}

/// That wait or run, in order of submission.
std::vector<const SeenJob*> present_jobs(const Listing& listing, const Pools& pools) {
  std::vector<const SeenJob*> present;
  for (const SeenJob& job : listing.jobs)
    if (job.phase != JobPhase::ended && job.gpus > 0 && pools.numbers.contains(job.partition) &&
        job.submitted <= listing.now)
      present.push_back(&job);
  std::ranges::stable_sort(present, {}, &SeenJob::submitted);
  return present;
}

/// All but its name, and what the cluster's own scheduler makes of it.
SnapshotJob snapshot_job(const SeenJob& job, const eta::Submitted& submitted, const Pools& pools) {
  SnapshotJob row;
  row.user = submitted.user;
  row.pool = submitted.pool;
  row.gpus = job.gpus;
  row.submit = job.submitted;
  row.started = submitted.start;
  if (row.started) row.where = pools.where(job, row.pool);
  row.kept_out = job.held || (job.blocked && !job.blocked->until);
  if (job.blocked) row.eligible = job.blocked->until;
  row.order = job.order;
  if (job.limit > Seconds(0)) row.limit = job.limit;
  return row;
}

/// What a cluster with priorities of its own makes of it, and plans with; one without a limit runs
/// as long as Slurm has it then.
void take_rank(const Listing& listing, const SeenJob& job, std::map<std::string, double>& used,
               SnapshotJob& row) {
  constexpr Seconds year{365 * 86'400};
  if (listing.ranks.empty()) return;
  row.planned = row.limit.value_or(year);
  const auto rank = listing.ranks.find(job.id);
  if (rank == listing.ranks.end()) return;
  row.rank = rank->second;
  row.rank->used_gpu_s = used[job.user];
}

void take_wish(const Wishes& wishes, const SeenJob& job, Question& question) {
  if (wishes.empty()) return;
  const auto wish = wishes.find(job.id);
  question.would_be.push_back(wish != wishes.end() ? wish->second
                                                   : live::Ordering::WouldBe{job.order, true});
}

/// Jobs that are advised alike share a curve.
class AdvisedCurves {
 public:
  std::shared_ptr<const RunTimeCurve> of(const RunTimeDistribution& advised) {
    auto& curve = curves_[{advised.p10.count(), advised.p50.count(), advised.p90.count()}];
    if (!curve) curve = std::make_shared<const RunTimeCurve>(eta::curve_of(advised));
    return curve;
  }

 private:
  std::map<std::array<double, 3>, std::shared_ptr<const RunTimeCurve>> curves_;
};

/// By its log, else by the advice that it got, else by its user's runs and the site's: as
/// queue::forecast_of() has it.
void believe(const Question& question, const eta::RunTimeModel& model, QueueSnapshot& snapshot) {
  std::vector<RunTimeBelief> beliefs = model.beliefs(question.rows);
  AdvisedCurves advised;
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    SnapshotJob& job = snapshot.jobs[i];
    const KnownRun& run = question.runs[i];
    const std::size_t row = question.rows[i];
    job.burst = model.burst(row);
    job.belief = std::move(beliefs[i]);
    job.source = model.has_own(row) ? RunTimeSource::user : RunTimeSource::site;
    if (run.advised) {
      job.belief = {.curve = advised.of(*run.advised)};
      job.source = RunTimeSource::advisor;
    }
    if (run.progress && job.started && job.belief.curve) {
      job.belief = eta::with_progress(*job.belief.curve, *run.progress);
      job.source = RunTimeSource::progress;
    }
  }
}

std::optional<eta::ToldProgress> progress_of(const live::Life& life, const SeenJob& job,
                                             SimTime now) {
  if (!life.log || !life.log->remaining_s || !life.looked || !job.started) return std::nullopt;
  const SimTime written = std::min(life.log->written.value_or(*life.looked), *life.looked);
  const double ran_s = FractionalSeconds(written - *job.started).count();
  if (ran_s <= 0 || std::max(now, *life.looked) - written > queue::oldest_log) return std::nullopt;
  if (!queue::accounts_for(life.log->accounted_s, ran_s)) return std::nullopt;
  return eta::ToldProgress{.ran_s = ran_s, .left_s = *life.log->remaining_s};
}

/// The share that was to have happened by `now`, linear between two quantiles.
double share_by(const InstantQuantiles& told, SimTime now) {
  double share = quantile_shares.front();
  for (std::size_t i = 1; i < quantile_shares.size(); ++i) {
    const SimTime from = told.*instants_of_shares[i - 1], to = told.*instants_of_shares[i];
    if (now >= to)
      share = quantile_shares[i];
    else if (now > from && to != never)
      share += (quantile_shares[i] - share) * (FractionalSeconds(now - from) / (to - from));
  }
  return share;
}

SimTime instant_of(const InstantQuantiles& told, double share) {
  for (std::size_t i = 1; i < quantile_shares.size(); ++i) {
    if (share > quantile_shares[i]) continue;
    const SimTime from = told.*instants_of_shares[i - 1], to = told.*instants_of_shares[i];
    if (to == never) return never;
    const double part =
        (share - quantile_shares[i - 1]) / (quantile_shares[i] - quantile_shares[i - 1]);
    return from + std::chrono::round<Seconds>(part * FractionalSeconds(to - from));
  }
  return told.p90;
}

/// What is left of it at `now`, where it has not happened: its middle halves what lies ahead.
/// Nothing once that is over; what happens is seen a little later.
InstantQuantiles left_of(InstantQuantiles told, SimTime now) {
  constexpr Seconds minute{60};
  if (now <= told.p10) return told;
  if (told.p90 < now - minute) return {never, never, never, never, never};
  told.p50 = instant_of(told, std::midpoint(share_by(told, now), quantile_shares.back()));
  for (SimTime* const each : {&told.p10, &told.p50, &told.p90}) *each = std::max(*each, now);
  return told;
}

/// As queue::quantiles_document().
std::string text_of(const InstantQuantiles& told, SimTime now) {
  const auto instant = [](SimTime when) {
    return when == never ? "null" : fmt::format("{}", seconds_of(when));
  };
  const InstantQuantiles left = left_of(told, now);
  return fmt::format(R"({{"p10":{},"p50":{},"p90":{}}})", instant(left.p10), instant(left.p50),
                     instant(left.p90));
}

}  // namespace

void Forecasts::note(const SeenJob& job) {
  if (job.phase != JobPhase::ended || !job.started || !job.ended) return;
  past_.push_back({job.user, job.partition, job.gpus, job.submitted, *job.started, *job.ended});
  if (past_.size() > most_past) past_.pop_front();
}

/// By ended jobs of each user; what is long ago counts less.
std::map<std::string, double> Forecasts::used_gpu_s(SimTime now) const {
  std::map<std::string, double> used;
  for (const Ended& each : past_) {
    const FractionalSeconds ran = each.ended - each.started, ago = now - each.ended;
    const double kept =
        half_life_ == Seconds(0) ? 1 : std::exp2(-(ago / FractionalSeconds(half_life_)));
    used[each.user] += each.gpus * ran.count() * kept;
  }
  return used;
}

KnownRuns known_runs(const live::Jobs& jobs, const live::Lives& lives, SimTime now) {
  KnownRuns runs;
  auto next = jobs.all().begin();
  const auto end = jobs.all().end();
  for (const auto& [id, life] : lives.all()) {  // by id, as the jobs
    while (next != end && next->first < id) ++next;
    if (next == end) break;
    const SeenJob& job = next->second.seen;
    if (next->first != id || job.phase == JobPhase::ended) continue;
    KnownRun run;
    if (life.code && life.code->gives_length && life.code->prediction &&
        life.code->p50 > FractionalSeconds(0))
      run.advised = life.code->prediction->distribution;
    if (job.phase == JobPhase::running) run.progress = progress_of(life, job, now);
    if (run.advised || run.progress) runs.emplace(id, run);
  }
  return runs;
}

std::unique_ptr<Question> Forecasts::question(const Listing& listing, const Wishes& wishes,
                                              const KnownRuns& runs) {
  auto made = std::make_unique<Question>();
  const Pools pools(listing);
  const SimTime now = listing.now;
  QueueSnapshot& snapshot = made->snapshot;
  snapshot.now = now;
  snapshot.pools = pools.specs;
  snapshot.changes = pools.changes;
  const auto user_of = [&](const std::string& name) {
    return users_.try_emplace(name, static_cast<std::uint32_t>(users_.size())).first->second;
  };
  const std::vector<const SeenJob*> present = present_jobs(listing, pools);
  // The model takes all submissions in order of time; those that are present come back by place.
  struct Row {
    eta::Submitted submitted;
    const SeenJob* job;
  };
  std::vector<Row> rows;
  for (const Ended& each : past_) {
    const auto pool = pools.numbers.find(each.partition);
    if (pool == pools.numbers.end()) continue;
    const auto ran_s = static_cast<double>((each.ended - each.started).count());
    rows.push_back(
        {{user_of(each.user), pool->second, each.gpus, each.submitted, each.started, ran_s, true},
         nullptr});
    snapshot.past.push_back({each.submitted, user_of(each.user), pool->second, each.gpus, ran_s});
  }
  for (const SeenJob* job : present) {
    const std::optional<SimTime> started =
        job->phase == JobPhase::running ? job->started : std::nullopt;
    const double ran_s = started ? static_cast<double>((now - *started).count()) : 0;
    rows.push_back({{user_of(job->user), pool_of(*job, pools), job->gpus, job->submitted, started,
                     ran_s, false},
                    job});
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.submitted.submit; });
  std::ranges::stable_sort(snapshot.past, {}, &PastSubmission::submit);
  for (const Row& row : rows) made->submitted.push_back(row.submitted);
  std::map<std::string, double> used;
  if (!listing.ranks.empty()) used = used_gpu_s(now);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].job == nullptr) continue;
    const SeenJob& job = *rows[i].job;
    SnapshotJob& row = snapshot.jobs.emplace_back(snapshot_job(job, rows[i].submitted, pools));
    row.id = made->texts.emplace_back(job.id);
    take_rank(listing, job, used, row);
    take_wish(wishes, job, *made);
    const auto run = runs.find(job.id);
    made->runs.push_back(run != runs.end() ? run->second : KnownRun());
    made->rows.push_back(i);
  }
  return made;
}

Result<Forecast> forecast_of(std::unique_ptr<Question> asked, const Scheduler& scheduler,
                             Hindsight& hindsight) {
  constexpr std::int64_t most = 60, least = 20, figures = 600'000;  // that are held at a time
  Question& question = *asked;
  QueueSnapshot& snapshot = question.snapshot;
  const std::int64_t samples =
      std::clamp(figures / std::max<std::int64_t>(1, std::ssize(snapshot.jobs)), least, most);
  const eta::RunTimeModel model(std::move(question.submitted), snapshot.now);
  snapshot.site = model.site();
  believe(question, model, snapshot);
  auto made = forecast_queue(snapshot, scheduler, {.samples = samples});
  if (!made) return tl::unexpected(made.error());
  hindsight.note(snapshot, *made);
  const EtaCalibration calibration = hindsight.calibration(snapshot.now);
  Forecast forecast{.now = snapshot.now, .samples = made->samples, .jobs = {}};
  if (!question.would_be.empty()) {
    auto both = forecast_ordered(snapshot, question.would_be, *made, [&] {
      return forecast_queue(snapshot, scheduler, {.samples = samples});
    });
    if (!both) return tl::unexpected(both.error());
    forecast.order = both->effect;
    calibrate(both->ordered, snapshot, calibration);
    for (std::size_t i = 0; i < snapshot.jobs.size(); ++i)
      forecast.jobs[std::string(snapshot.jobs[i].id)].start_if_ordered =
          both->ordered.jobs[i].start;
  }
  for (JobForecast& each : made->jobs) each.waits_s = {};  // large, and nobody asks for them
  calibrate(*made, snapshot, calibration);
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    const SnapshotJob& job = snapshot.jobs[i];
    const JobForecast& each = made->jobs[i];
    Forecast::Job& told = forecast.jobs[std::string(job.id)];
    told.start = each.start;
    told.end = each.end;
    told.block = each.block;
    told.by = job.source;
    told.text = queue::block_in_words(each.block, snapshot.pools[job.pool].name, job.gpus);
    for (const JobForecast::Awaited& awaited : each.awaited)
      told.awaited.emplace_back(snapshot.jobs[awaited.job].id);
  }
  return forecast;
}

std::string eta_text(const Forecast* forecast, const SeenJob& job, SimTime now) {
  if (forecast == nullptr || job.phase == JobPhase::ended) return "null";
  const auto found = forecast->jobs.find(job.id);
  if (found == forecast->jobs.end()) return "null";
  const Forecast::Job& told = found->second;
  const bool starts = told.start && job.phase == JobPhase::queued;
  return fmt::format(R"({{"start_s":{},"end_s":{},"as_of_s":{},"samples":{},"by":"{}"}})",
                     starts ? text_of(*told.start, now) : "null", text_of(told.end, now),
                     seconds_of(forecast->now), forecast->samples, name_of(told.by));
}

Document start_if_ordered(const Forecast* forecast, const std::string& job, SimTime now) {
  if (forecast == nullptr) return nullptr;
  const auto found = forecast->jobs.find(job);
  if (found == forecast->jobs.end() || !found->second.start_if_ordered) return nullptr;
  return Document::parse(text_of(*found->second.start_if_ordered, now));
}

Document eta_of(const Forecast* forecast, const SeenJob& job, SimTime now) {
  return Document::parse(eta_text(forecast, job, now));
}

}  // namespace schedmate::daemon
