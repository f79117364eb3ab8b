// SPDX-License-Identifier: Apache-2.0

/// What a job or a partition of the queue says of itself.

#include <algorithm>

#include "base/text.hpp"
#include "slurm/queue.hpp"
#include "slurm/shown_parts.hpp"

namespace schedmate::slurm {
namespace {

struct TaskRange {
  std::int64_t first = 0, last = -1, step = 1;
};

/// "0-3%1", "1,5-9:2".
std::vector<TaskRange> tasks_listed(std::string_view list) {
  std::vector<TaskRange> ranges;
  constexpr std::int64_t most = std::int64_t{1} << 53U;
  const auto number = [&](std::string_view text) -> std::optional<std::int64_t> {
    const auto made = parse_number<std::int64_t>(text);
    return made ? std::optional(std::min(*made, most)) : std::nullopt;
  };
  for (const auto range : split(list.substr(0, list.find('%')), ',')) {
    const std::size_t dash = range.find('-');
    const std::size_t colon = range.find(':');
    const auto first = number(range.substr(0, dash));
    if (!first) continue;
    if (dash == std::string_view::npos) {
      ranges.push_back({*first, *first, 1});
      continue;
    }
    const auto last =
        number(range.substr(dash + 1, colon == std::string_view::npos ? colon : colon - dash - 1));
    const auto step = colon == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                      : number(range.substr(colon + 1));
    if (last && step && *step > 0 && *last >= *first) ranges.push_back({*first, *last, *step});
  }
  return ranges;
}

}  // namespace

std::int64_t tasks_of(std::string_view list) {
  constexpr std::int64_t most = 1'000'000;
  std::int64_t count = 0;
  for (const TaskRange& range : tasks_listed(list))
    count = std::min(most, count + std::min(most, (range.last - range.first) / range.step + 1));
  return std::max<std::int64_t>(1, count);
}

std::vector<std::int64_t> tasks_in(std::string_view list, std::size_t most) {
  std::vector<std::int64_t> tasks;
  for (const TaskRange& range : tasks_listed(list))
    for (std::int64_t task = range.first; task <= range.last && tasks.size() < most;
         task += range.step)
      tasks.push_back(task);
  return tasks;
}

Seconds planned_run_time(const ClusterQueue& queue, const std::optional<Seconds>& limit,
                         std::span<const std::string> partitions) {
  if (limit) return *limit;
  Seconds planned{365 * 86'400};  // Slurm's own for UNLIMITED
  for (const std::string& name : partitions) {
    const auto found = std::ranges::find(queue.partitions, name, &Partition::name);
    if (found != queue.partitions.end() && found->most) planned = std::min(planned, *found->most);
  }
  return planned;
}

bool QueuedJob::runs() const {
  return state.starts_with("RUNNING") || state.starts_with("SUSPENDED") ||
         state.starts_with("COMPLETING") || state.starts_with("CONFIGURING") ||
         state.starts_with("STOPPED") || state.starts_with("SIGNALING") ||
         state.starts_with("STAGE_OUT") || state.starts_with("RESIZING");
}

bool QueuedJob::waits() const {
  return state.starts_with("PENDING") || state.starts_with("REQUEUE") ||
         state.starts_with("SPECIAL_EXIT") || state.starts_with("RESV_DEL_HOLD");
}

bool Partition::takes(const QueuedJob& job) const {
  const auto among = [](const std::vector<std::string>& all, const std::string& one) {
    return all.empty() || std::ranges::find(all, one) != all.end();
  };
  return up && for_all && among(accounts, job.account) && among(qos, job.qos) &&
         (!most || (job.limit && *job.limit <= *most)) &&
         (most_nodes == 0 || job.nodes <= most_nodes);
}

std::string_view array_of(std::string_view id) { return id.substr(0, id.find('_')); }

bool may_mean(std::string_view wanted, std::string_view id) {
  if (wanted == id) return true;
  const std::size_t line = id.find('_');
  if (line == std::string_view::npos) return false;
  if (wanted == id.substr(0, line)) return true;
  const std::string_view tasks = id.substr(line + 1);
  if (!wanted.starts_with(id.substr(0, line + 1)) || !tasks.starts_with('[')) return false;
  const auto task = parse_number<std::int64_t>(wanted.substr(line + 1));
  return task && std::ranges::any_of(tasks_listed(tasks.substr(1, tasks.find(']') - 1)),
                                     [&](const TaskRange& range) {
                                       return *task >= range.first && *task <= range.last &&
                                              (*task - range.first) % range.step == 0;
                                     });
}

}  // namespace schedmate::slurm
