// SPDX-License-Identifier: Apache-2.0
#include "simulated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <schedmate/sim.hpp>

#include "tests/support/estimators.hpp"

namespace oracle {
namespace {

using schedmate::at;
using schedmate::seconds_of;

schedmate::Trace to_trace(const TickInput& input) {
  schedmate::Trace trace;
  trace.users = {""};
  for (const TickVc& vc : input.vcs) trace.vcs.push_back(vc.name);
  for (const TickJob& job : input.jobs) {
    schedmate::Job copy;
    copy.vc = static_cast<std::uint32_t>(job.vc);
    copy.gpus = job.gpus;
    copy.profile = static_cast<std::uint32_t>(job.profile);
    copy.submit = at(job.submit);
    copy.duration = schedmate::Seconds(job.duration);
    trace.jobs.push_back(copy);
    trace.columns["estimate"].push_back(job.estimate);
  }
  schedmate::PackingTables tables;
  for (const TickProfile& profile : input.profiles) {
    schedmate::Profile copy;
    copy.memory_mib = profile.memory_mib;
    copy.sharing_score = profile.sharing_score;
    copy.interference_free = profile.interference_free;
    tables.profiles.push_back(copy);
  }
  for (const PairSpeed& pair : input.pairs) tables.pairs.push_back({pair.newcomer, pair.resident});
  trace.packing = std::make_shared<const schedmate::PackingTables>(std::move(tables));
  trace.forecast = std::make_shared<const schedmate::ForecastTable>(schedmate::ForecastTable{
      at(input.forecast.first), schedmate::Seconds(600), input.forecast.jobs, input.forecast.gpus});
  return trace;
}

schedmate::ClusterSpec to_cluster(const TickInput& input) {
  schedmate::ClusterSpec cluster;
  for (const TickVc& vc : input.vcs) {
    schedmate::PartitionSpec partition;
    partition.name = vc.name;
    partition.nodes = vc.nodes;
    partition.gpus_per_node = vc.gpus_per_node;
    partition.round = schedmate::Seconds(vc.round);
    cluster.partitions.push_back(std::move(partition));
  }
  return cluster;
}

/// Bits of a mask in ascending order.
std::vector<int> gpus_of(std::uint64_t mask) {
  std::vector<int> gpus;
  for (; mask != 0; mask &= mask - 1) gpus.push_back(std::countr_zero(mask));
  return gpus;
}

TickOutcome to_outcome(const schedmate::JobOutcome& from) {
  TickOutcome to;
  if (from.status != schedmate::JobStatus::finished) {
    const bool infeasible = from.status == schedmate::JobStatus::infeasible;
    to.status = infeasible ? TickStatus::infeasible : TickStatus::stalled;
    return to;
  }
  to.profiled = from.profiled;
  to.finished_in_profiler = from.finished_in_profiler;
  to.exclusive = from.exclusive;
  to.preemptions = from.preemptions;
  to.start = seconds_of(from.start);
  to.end = seconds_of(from.end);
  to.queue = from.queue.count();
  to.profiler_queue = from.profiler_queue.count();
  to.rate = from.rate;
  to.remaining = from.remaining;
  to.packed_at = seconds_of(from.packed_at);
  to.unpacked_at = seconds_of(from.unpacked_at);
  for (const schedmate::Slice& slice : from.nodes) {
    to.nodes.push_back({static_cast<int>(slice.node), gpus_of(slice.gpus)});
  }
  return to;
}

bool same(const TickOutcome& a, const TickOutcome& b) {
  if (a.status != TickStatus::finished) return a.status == b.status;
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return a == b && bits(a.rate) == bits(b.rate) && bits(a.remaining) == bits(b.remaining);
}

struct Simulated {
  TickResult result;
  ProfilerSettings profiler;  ///< as the simulator chose them for this cluster
};

schedmate::Result<Simulated> simulated(const TickInput& input, Run run) {
  const schedmate::Trace trace = to_trace(input);
  const schedmate::ClusterSpec cluster = to_cluster(input);
  schedmate::SimOptions options;
  if (run.mode == Mode::reference) options.defects = schedmate::Defects::reference();
  const auto scheduler = schedmate::make_scheduler(
      name_of(run.policy), {cluster, options.defects, 1, schedmate::forecast_of(trace)}, {});
  if (!scheduler) return tl::unexpected(scheduler.error());
  const bool estimates = run.policy == TickPolicy::qssf || run.policy == TickPolicy::lucid;
  const auto estimator = schedmate::make_estimator(estimates ? "column:estimate" : "oracle",
                                                   schedmate::testing::replay_input(trace));
  if (!estimator) return tl::unexpected(estimator.error());
  options.estimator = *estimator;
  const auto result = schedmate::simulate(trace, cluster, *scheduler, options);
  if (!result) return tl::unexpected(result.error());

  Simulated found;
  for (const auto& outcome : result->outcomes) found.result.outcomes.push_back(to_outcome(outcome));
  for (const auto& [when, change] : result->profiler_scaling) {
    found.result.scaling.emplace_back(seconds_of(when), change);
  }
  if (scheduler->profiler) {
    found.profiler.gpus_per_node = scheduler->profiler->nodes.gpus_per_node;
    found.profiler.lenders = scheduler->profiler->lenders;
  }
  return found;
}

}  // namespace

std::string_view name_of(TickPolicy policy) {
  constexpr std::array<std::string_view, 6> names{"fifo", "sjf",      "srtf",
                                                  "qssf", "tiresias", "lucid"};
  return names.at(static_cast<std::size_t>(policy));
}

std::string_view name_of(Mode mode) { return mode == Mode::reference ? "reference" : "repaired"; }

std::string describe(const TickOutcome& out) {
  if (out.status == TickStatus::infeasible) return "infeasible";
  if (out.status == TickStatus::stalled) return "stalled";
  std::string text = fmt::format(
      "start {} end {} queue {} preemptions {} profiled {} finished there {} profiler queue {} "
      "exclusive {} rate {} remaining {} packed {} unpacked {} nodes",
      out.start, out.end, out.queue, out.preemptions, out.profiled, out.finished_in_profiler,
      out.profiler_queue, out.exclusive, out.rate, out.remaining, out.packed_at, out.unpacked_at);
  for (const auto& [label, gpus] : out.nodes) {
    text += fmt::format(" {}:{}", label, fmt::join(gpus, ","));
  }
  return text;
}

std::string differences(const TickInput& input, Run run) {
  const auto theirs = simulated(input, run);
  if (!theirs) return "the simulator refuses: " + theirs.error().message;
  TickInput same_profiler = input;
  same_profiler.profiler = theirs->profiler;
  const TickResult ours = run_tick_model(same_profiler, run.policy, run.mode);
  std::string text;
  for (std::size_t id = 0; id < input.jobs.size(); ++id) {
    const TickOutcome& got = theirs->result.outcomes[id];
    if (same(ours.outcomes[id], got)) continue;
    text += fmt::format("job {}\n  oracle    {}\n  simulator {}\n", id, describe(ours.outcomes[id]),
                        describe(got));
  }
  if (ours.scaling != theirs->result.scaling) {
    text += fmt::format("the profiler scaled\n  oracle    {}\n  simulator {}\n", ours.scaling,
                        theirs->result.scaling);
  }
  return text;
}

}  // namespace oracle
