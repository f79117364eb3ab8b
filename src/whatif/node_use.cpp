// SPDX-License-Identifier: Apache-2.0
#include "whatif/node_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <ranges>
#include <span>

namespace schedmate::whatif {
namespace {

/// A level of use that is believed.
constexpr Seconds least_time{60};
constexpr std::size_t most_named = 5;

std::int64_t share_of(const AccountedJob& job, Resource resource) {
  return amount_of(job, resource) / static_cast<std::int64_t>(job.nodes.size());
}

/// The highest level at which, or above which, the node was for `least_time` altogether.
std::int64_t held_level(const std::map<std::int64_t, Seconds>& time_at) {
  Seconds above{0};
  for (const auto& [level, time] : std::views::reverse(time_at)) {
    above += time;
    if (above >= least_time) return level;
  }
  return 0;
}

struct Step {
  std::uint32_t node;
  SimTime at;
  std::int64_t by;
  auto operator<=>(const Step&) const = default;
};

/// What jobs that have ended took and gave back, by node, then time; at one instant ends come
/// first.
std::vector<Step> steps_of(const AccountingDump& dump, Resource resource) {
  std::vector<Step> steps;
  for (const AccountedJob& job : dump.jobs) {
    if (job.running) continue;
    for (const std::uint32_t node : job.nodes) {
      const std::int64_t share = share_of(job, resource);
      steps.push_back({node, job.start, share});
      steps.push_back({node, job.end, -share});
    }
  }
  std::ranges::sort(steps);
  return steps;
}

/// The end of the last time that one node's jobs that have ended held more than `level` for a
/// minute on end.
SimTime last_above(std::span<const Step> steps, std::int64_t level) {
  std::int64_t now = 0;
  SimTime since = never;
  SimTime last = SimTime::min();
  for (const Step& step : steps) {
    const bool was_above = now > level;
    if (was_above && step.at - since >= least_time) last = step.at;
    now += step.by;
    if (now > level && !was_above) since = step.at;
  }
  return last;
}

/// What a job has at least on each of its nodes of that size.
std::int64_t least_share(const AccountedJob& job, Resource resource, std::int64_t size) {
  const auto others = static_cast<std::int64_t>(job.nodes.size()) - 1;
  return std::max<std::int64_t>(1, amount_of(job, resource) - size * others);
}

}  // namespace

NodeUse node_use(const AccountingDump& dump, Resource resource) {
  NodeUse use{std::vector<std::int64_t>(dump.nodes.size()),
              std::vector<std::int64_t>(dump.nodes.size())};
  for (const AccountedJob& job : dump.jobs) {
    for (const std::uint32_t node : job.nodes)
      use.alone[node] = std::max(use.alone[node], share_of(job, resource));
  }
  const std::vector<Step> steps = steps_of(dump, resource);
  std::map<std::int64_t, Seconds> time_at;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    now += step.by;
    const bool last = i + 1 == steps.size() || steps[i + 1].node != step.node;
    if (!last) {
      time_at[now] += steps[i + 1].at - step.at;
      continue;
    }
    use.together[step.node] = held_level(time_at);
    time_at.clear();
    now = 0;
  }
  return use;
}

std::vector<std::uint32_t> find_runaways(const AccountingDump& dump,
                                         const InferredCluster& cluster) {
  struct Running {
    std::uint32_t job;
    std::int64_t size, share;  // of a node; at least, on each
  };
  std::vector<Running> all;
  std::vector<std::int64_t> held(dump.nodes.size());  // by them together, at least
  for (std::uint32_t i = 0; i < dump.jobs.size(); ++i) {
    const AccountedJob& job = dump.jobs[i];
    const std::uint32_t vc = cluster.vc_of_job[i];
    if (!job.running || vc == no_index || job.nodes.empty()) continue;
    const std::int64_t size = cluster.spec.partitions[vc].gpus_per_node * cluster.unit[vc];
    all.push_back({i, size, least_share(job, cluster.resource, size)});
    for (const std::uint32_t node : job.nodes) held[node] += all.back().share;
  }
  if (all.empty()) return {};
  const std::vector<Step> steps = steps_of(dump, cluster.resource);
  std::map<std::pair<std::uint32_t, std::int64_t>, SimTime> last;  // by node and level
  std::vector<std::uint32_t> found;
  for (const Running& each : all) {
    const AccountedJob& job = dump.jobs[each.job];
    const std::int64_t level = std::max<std::int64_t>(0, each.size - each.share);
    const bool taken = std::ranges::any_of(job.nodes, [&](std::uint32_t node) {
      const auto [known, is_new] = last.try_emplace({node, level});
      if (is_new) {
        const auto here = std::ranges::equal_range(steps, node, {}, &Step::node);
        known->second = last_above({here.begin(), here.end()}, level);
      }
      return held[node] > each.size || known->second >= job.start + least_time;
    });
    if (taken) found.push_back(each.job);
  }
  return found;
}

void note_runaways(const AccountingDump& dump, InferredCluster& seen) {
  const auto found = find_runaways(dump, seen);
  if (found.empty()) return;
  std::vector<std::string_view> names;
  for (const std::uint32_t i : found | std::views::take(most_named))
    names.push_back(dump.jobs[i].id);
  const std::size_t more = found.size() - names.size();
  seen.notes.push_back(fmt::format(
      "still RUNNING in the dump though others used the same {} meanwhile: {}{}. Runaway jobs "
      "(sacctmgr show runawayjobs)? In the replay they hold their GPUs or CPUs until the end of "
      "the dump; drop their rows, or give larger nodes with --cluster",
      seen.resource == Resource::gpus ? "GPUs" : "CPUs", fmt::join(names, ", "),
      more > 0 ? fmt::format(" and {} more", more) : ""));
}

}  // namespace schedmate::whatif
