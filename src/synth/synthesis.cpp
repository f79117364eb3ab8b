// SPDX-License-Identifier: Apache-2.0
#include "synth/synthesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/balance.hpp"
#include "synth/draw.hpp"
#include "synth/failures.hpp"
#include "synth/resume.hpp"
#include "synth/users.hpp"

namespace schedmate::synth {
namespace {

constexpr double day_s = 86'400;
constexpr double most_jobs = 1e8;
constexpr std::uint64_t most_draws = 4;

/// A stream of random numbers for each step, so that a change in one leaves the others.
Random stream(std::uint64_t seed, std::uint64_t step) { return Random(mix(mix(seed) + step)); }

struct Size {
  int nodes = 0;
  std::int64_t jobs = 0;
  std::int64_t span_s = 0;
};

Result<Size> plan(const ClusterFigures& cluster, const Joint& joint,
                  const SynthesisOptions& options) {
  const std::int64_t gpus = options.gpus > 0 ? options.gpus : cluster.gpus();
  const std::int64_t nodes = gpus / cluster.gpus_per_node;
  if (nodes < 1 || nodes > 1'000'000) {
    return fail(ErrorCode::unsupported,
                fmt::format("--gpus {}: must be 1 to 1000000 nodes of {} GPUs", gpus,
                            cluster.gpus_per_node));
  }
  const auto room = static_cast<double>(nodes * cluster.gpus_per_node);
  const double busy = cluster.jobs_per_day() * cluster.mean_gpu_s() / day_s;  // GPUs, on average
  const double load = busy / static_cast<double>(cluster.gpus());
  const double jobs_per_day = load * room * day_s / joint.mean_gpu_s(room);
  constexpr double usual_days = 30;
  const double span = options.days > 0 ? options.days : usual_days;
  const double jobs =
      options.jobs > 0 ? static_cast<double>(options.jobs) : std::round(span * jobs_per_day);
  if (!(jobs >= 1 && jobs <= most_jobs)) {
    return fail(ErrorCode::unsupported, fmt::format("{} jobs would be drawn, but only 1 to {} are "
                                                    "possible; change --jobs, --days or --gpus",
                                                    jobs, most_jobs));
  }
  const double days = options.jobs > 0 && options.days <= 0 ? jobs / jobs_per_day : span;
  return Size{static_cast<int>(nodes), static_cast<std::int64_t>(jobs),
              std::max<std::int64_t>(1, std::llround(days * day_s))};
}

/// Draws until the check holds; a draw in which one job is too heavy to be balanced is thrown away.
SynthJobs accepted_draw(const ClusterFigures& cluster, const Joint& joint, std::int64_t count,
                        std::uint64_t seed) {
  SynthJobs jobs;
  for (std::uint64_t attempt = 0; attempt < most_draws; ++attempt) {
    jobs = draw_jobs(joint, count, stream(seed, 100 + 2 * attempt));
    balance(cluster, jobs, stream(seed, 101 + 2 * attempt));
    if (std::ranges::all_of(check_rows(cluster, jobs), &CheckRow::holds)) break;
  }
  return jobs;
}

void cap(SynthJobs& jobs, std::int64_t gpus, std::int64_t& capped) {
  for (SynthJob& job : jobs) {
    if (job.gpus <= gpus) continue;
    job.gpus = static_cast<std::int32_t>(gpus);
    ++capped;
  }
}

/// By time of submission; a tie keeps the order of the bursts.
void sort_jobs(const Streaks& streaks, SynthJobs& jobs) {
  std::vector<std::uint32_t> order = streaks.order;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return jobs[i].submit_s; });
  std::vector<std::uint32_t> place(jobs.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  SynthJobs sorted;
  sorted.reserve(jobs.size());
  for (const std::uint32_t i : order) {
    sorted.push_back(jobs[i]);
    if (sorted.back().parent != no_job) sorted.back().parent = place[sorted.back().parent];
  }
  jobs = std::move(sorted);
}

}  // namespace

bool Synthesis::holds() const { return std::ranges::all_of(checks, &CheckRow::holds); }

Result<Synthesis> synthesize(const Published& published, const SynthesisOptions& options) {
  const ClusterFigures& cluster = published.cluster;
  const Joint joint = fit_joint(published);
  const auto size = plan(cluster, joint, options);
  if (!size) return tl::unexpected(size.error());
  Synthesis result;
  result.nodes = size->nodes;
  result.span_s = size->span_s;
  SynthJobs& jobs = result.jobs;
  jobs = accepted_draw(cluster, joint, size->jobs, options.seed);
  result.checks = check_rows(cluster, jobs);
  const Streaks streaks = order_streaks(published.behaviour, jobs, stream(options.seed, 3));
  submit_bursts({published, streaks, result.span_s}, jobs, stream(options.seed, 4));
  assign_users(cluster, streaks, jobs, stream(options.seed, 5));
  assign_causes(published, jobs, stream(options.seed, 6));
  result.continued =
      link_resumed(published.behaviour, result.span_s, jobs, stream(options.seed, 7));
  sort_jobs(streaks, jobs);
  const std::int64_t gpus = std::int64_t{result.nodes} * cluster.gpus_per_node;
  cap(jobs, options.most_gpus > 0 ? std::min(options.most_gpus, gpus) : gpus, result.capped);
  result.gaps = gaps_of(jobs);
  result.top_users_percent = top_share(cluster, jobs, 5);
  result.load =
      Tally(cluster, jobs).gpu_s / (static_cast<double>(gpus) * static_cast<double>(result.span_s));
  return result;
}

}  // namespace schedmate::synth
