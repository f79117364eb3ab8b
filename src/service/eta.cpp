// SPDX-License-Identifier: Apache-2.0
#include "service/eta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <schedmate/trace.hpp>

#include "base/words.hpp"
#include "eta/run_time_model.hpp"
#include "service/advisor_state.hpp"
#include "service/cluster_queue.hpp"
#include "service/held_input.hpp"
#include "service/redaction.hpp"
#include "slurm/snapshot.hpp"
#include "study/trace_queue.hpp"

namespace schedmate::service {
namespace {

constexpr std::string_view trace_mark = "trace:";

EtaOptions options_of(const settings::Session& session, const EtaRequest& request) {
  return {.samples = request.samples,
          .seed = static_cast<std::uint64_t>(session.settings.whole("seed")),
          .threads = static_cast<int>(session.settings.whole("threads"))};
}

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
    case QueueBlock::kept_out:
      break;
  }
  return "something other than the queue keeps it";
}

/// Without `user` and what only the source of the snapshot knows.
EtaJob told(const QueueSnapshot& snapshot, const QueueForecast& forecast, std::size_t i) {
  const SnapshotJob& job = snapshot.jobs[i];
  const JobForecast& made = forecast.jobs[i];
  const std::string& pool = snapshot.pools[job.pool].name;
  EtaJob each{.id = job.id,
              .user = "",
              .partition = pool,
              .gpus = job.gpus,
              .submit = job.submit,
              .started = job.started,
              .start = made.start,
              .end = made.end,
              .reason = "",
              .text = "",
              .awaited = {},
              .by = job.source};
  if (job.started) return each;
  each.reason = name_of(made.block);
  each.text = block_in_words(made.block, pool, job.gpus);
  for (const JobForecast::Awaited& awaited : made.awaited)
    each.awaited.push_back({snapshot.jobs[awaited.job].id, awaited.share});
  return each;
}

Eta begun(const QueueSnapshot& snapshot, const QueueForecast& forecast, std::string policy) {
  Eta eta{.now = snapshot.now,
          .policy = std::move(policy),
          .samples = forecast.samples,
          .gpus = 0,
          .jobs = {},
          .notes = {}};
  for (const PartitionSpec& pool : snapshot.pools)
    eta.gpus += std::int64_t{pool.nodes} * pool.gpus_per_node;
  return eta;
}

Result<Eta> eta_of_trace(const settings::Session& session, const EtaRequest& request,
                         const study::PolicySpec& policy) {
  const std::string spec = request.from.substr(trace_mark.size());
  if (request.at.empty())
    return fail(ErrorCode::unsupported, "eta: --at TIME is missing (schedmate eta --help)");
  const ReadOptions options{.strict = session.settings.flag("strict"), .columns = {}};
  const auto trace =
      read_held(spec, [&](const std::string& held) { return read_trace(held, options); });
  if (!trace) return tl::unexpected(trace.error());
  const auto cluster = [&]() -> Result<ClusterSpec> {
    if (!request.cluster.empty()) return read_cluster(request.cluster);
    if (trace->cluster) return *trace->cluster;
    return fail(ErrorCode::unsupported,
                fmt::format("{} does not describe its cluster: give one with --cluster FILE",
                            redacted(spec)));
  }();
  if (!cluster) return tl::unexpected(cluster.error());
  const auto now = study::instant_of(request.at, *trace);
  if (!now) return tl::unexpected(now.error());
  const EtaOptions how = options_of(session, request);
  const auto queue = study::queue_of_trace(*trace, *cluster, policy, *now, {how.seed, how.threads});
  if (!queue) return tl::unexpected(queue.error());
  const auto forecast = forecast_queue(queue->snapshot, queue->scheduler, how);
  if (!forecast) return tl::unexpected(forecast.error());
  Eta made = begun(queue->snapshot, *forecast, policy.text);
  for (std::size_t i = 0; i < queue->snapshot.jobs.size(); ++i) {
    made.jobs.push_back(told(queue->snapshot, *forecast, i));
    made.jobs.back().user = queue->users[i];
  }
  return made;
}

/// Who submitted what: the history, and the cluster as it is.
class KnownSubmissions {
 public:
  Result<void> read(const settings::Session& session) {
    auto history = find_history(session);
    if (!history) return tl::unexpected(history.error());
    if (!*history) return {};
    if ((*history)->role != Role::cluster_operator)
      return fail(ErrorCode::refused,
                  fmt::format("eta: {} belongs to another user; only its owner sees the run times "
                              "of all users (--state-dir DIR)",
                              session.state_dir()));
    JobFilter filter;
    filter.finished = true;
    filter.limit = std::numeric_limits<std::size_t>::max();
    return (*history)->store->each(filter, [&](const JobRecord& record) {
      if (!record.outcome || !record.outcome->start) return true;
      ++runs_;
      add(record.user, record.vc, record.gpus, record.submit, record.outcome->start,
          record.outcome->duration, true);
      return true;
    });
  }

  /// Says where it stands.
  std::size_t add(const std::string& user, const std::string& partition, std::int64_t gpus,
                  SimTime submit, std::optional<SimTime> start, Seconds ran, bool ended) {
    submitted_.push_back({.user = number_of(users_, user),
                          .pool = number_of(partitions_, partition),
                          .gpus = static_cast<std::int32_t>(gpus),
                          .submit = submit,
                          .start = start,
                          .run_time_s = FractionalSeconds(std::max(Seconds(1), ran)).count(),
                          .ended = ended});
    return submitted_.size() - 1;
  }

  /// `place` says where in the order of submission each stands, by where it stood.
  eta::RunTimeModel model(SimTime now, std::vector<std::size_t>& place) && {
    std::vector<std::size_t> order(submitted_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return submitted_[i].submit; });
    std::vector<eta::Submitted> sorted;
    place.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(submitted_[order[i]]);
    }
    return {std::move(sorted), now};
  }
  [[nodiscard]] std::int64_t runs() const { return runs_; }

 private:
  using Numbers = std::map<std::string, std::uint32_t>;
  static std::uint32_t number_of(Numbers& numbers, const std::string& name) {
    return numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  std::vector<eta::Submitted> submitted_;
  Numbers users_, partitions_;
  std::int64_t runs_ = 0;
};

Result<Eta> eta_of_cluster(const settings::Session& session, const EtaRequest& request,
                           const study::PolicySpec& policy) {
  const auto queue = read_cluster_queue(session, request.from);
  if (!queue) return tl::unexpected(queue.error());
  KnownSubmissions known;
  if (auto read = known.read(session); !read) return tl::unexpected(read.error());
  const std::int64_t past_runs = known.runs();
  std::vector<std::size_t> stands;
  for (const slurm::QueuedJob& job : queue->jobs)
    stands.push_back(known.add(job.user, job.partitions.empty() ? "" : job.partitions.front(),
                               job.gpus, job.submit, job.runs() ? job.start : std::nullopt,
                               job.runs() ? queue->now - *job.start : Seconds(0), false));
  std::vector<std::size_t> place;
  const eta::RunTimeModel model = std::move(known).model(queue->now, place);
  auto cluster = slurm::snapshot_of(*queue, [&](const slurm::QueuedJob& job) {
    const std::size_t i = place[stands[static_cast<std::size_t>(&job - queue->jobs.data())]];
    return slurm::JobBelief{model.belief(i), model.burst(i),
                            model.has_own(i) ? RunTimeSource::user : RunTimeSource::site};
  });
  if (!cluster)
    return fail(cluster.error().code, fmt::format("{}: {}", request.from, cluster.error().message));
  const auto scheduler =
      study::plain_scheduler(policy, ClusterSpec{cluster->snapshot.pools},
                             static_cast<std::uint64_t>(session.settings.whole("seed")));
  if (!scheduler) return tl::unexpected(scheduler.error());
  const auto forecast = forecast_queue(cluster->snapshot, *scheduler, options_of(session, request));
  if (!forecast)
    return fail(forecast.error().code,
                fmt::format("{}: {}", request.from, forecast.error().message));
  Eta made = begun(cluster->snapshot, *forecast, policy.text);
  made.notes = queue->notes;
  made.notes.insert(made.notes.end(), cluster->notes.begin(), cluster->notes.end());
  if (past_runs == 0)
    made.notes.emplace_back(
        "no past run times: `history import sacct:FILE` gives them; until then every job is taken "
        "to run as those that run now");
  std::size_t last = queue->jobs.size();
  for (std::size_t i = 0; i < cluster->queued.size(); ++i) {
    const slurm::QueuedJob& job = queue->jobs[cluster->queued[i]];
    EtaJob each = told(cluster->snapshot, *forecast, i);
    if (cluster->queued[i] == last) {  // another task of the same array
      made.jobs.back().end.p90 = std::max(made.jobs.back().end.p90, each.end.p90);
      continue;
    }
    last = cluster->queued[i];
    each.user = job.user;
    each.submit = job.submit;
    each.partition = fmt::format("{}", fmt::join(job.partitions, ","));
    if (job.waits()) {
      const slurm::WaitReason reason = slurm::reason_in_words(job.reason, job.dependency);
      if (reason.waits != slurm::Waits::for_its_turn) {
        each.reason = reason.kind;
        each.text = reason.text;
      }
    }
    made.jobs.push_back(std::move(each));
  }
  return made;
}

Document quantiles_of(const InstantQuantiles& instants) {
  const auto one = [](SimTime when) {
    return when == never ? Document(nullptr) : Document(seconds_of(when));
  };
  return {{"p10", one(instants.p10)}, {"p50", one(instants.p50)}, {"p90", one(instants.p90)}};
}

}  // namespace

Result<Eta> eta(const settings::Session& session, const EtaRequest& request) {
  const auto policy = study::parse_policy(redacted(request.policy));
  if (!policy) return tl::unexpected(policy.error());
  if (auto plain = study::check_not_elastic({&*policy, 1}); !plain)
    return tl::unexpected(plain.error());
  return request.from.starts_with(trace_mark) ? eta_of_trace(session, request, *policy)
                                              : eta_of_cluster(session, request, *policy);
}

Document eta_document(const Eta& eta) {
  Document document = {{"schema", "schedmate.eta.v1"}, {"now", seconds_of(eta.now)},
                       {"policy", eta.policy},         {"samples", eta.samples},
                       {"jobs", Document::array()},    {"notes", eta.notes}};
  for (const EtaJob& job : eta.jobs) {
    Document blocked = nullptr;
    if (!job.started && job.reason != name_of(QueueBlock::none)) {
      Document jobs = Document::array();
      for (const EtaJob::Awaited& awaited : job.awaited) jobs.push_back(awaited.id);
      blocked = {{"reason", job.reason}, {"text", job.text}, {"jobs", std::move(jobs)}};
    }
    document["jobs"].push_back(
        {{"job_id", job.id},
         {"user", job.user},
         {"state", job.started ? "running" : "waiting"},
         {"gpus", job.gpus},
         {"partition", job.partition},
         {"submit_s", seconds_of(job.submit)},
         {"start_s", job.start ? quantiles_of(*job.start) : Document(nullptr)},
         {"end_s", quantiles_of(job.end)},
         {"blocked_by", std::move(blocked)},
         {"by", name_of(job.by)}});
  }
  return document;
}

}  // namespace schedmate::service
