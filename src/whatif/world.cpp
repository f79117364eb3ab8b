// SPDX-License-Identifier: Apache-2.0
#include "whatif/world.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace schedmate::whatif {
namespace {

/// Slurm's backfill takes an unlimited job to last a year.
constexpr Seconds unlimited{365 * 86'400};

/// The next limit up that a person would type: quarter hours to two hours, hours to a day, days.
Seconds as_typed(Seconds duration) {
  constexpr std::int64_t quarter = 900;
  constexpr std::int64_t hour = 3600;
  constexpr std::int64_t day = 86'400;
  const std::int64_t s = std::max<std::int64_t>(1, duration.count());
  const std::int64_t step = s <= 2 * hour ? quarter : s <= day ? hour : day;
  return Seconds((s + step - 1) / step * step);
}

class WorldBuilder {
 public:
  WorldBuilder(const AccountingDump& dump, const InferredCluster& cluster)
      : dump_(dump), cluster_(cluster) {}

  Result<RecordedCluster> build(const std::function<std::string(std::string_view)>& rename) {
    for (const PartitionSpec& vc : cluster_.spec.partitions) world_.trace.vcs.push_back(vc.name);
    world_.complete_from = dump_.first_end == never ? at(0) : dump_.first_end;
    const std::vector<std::uint32_t> rows = in_order();
    if (rows.empty()) {
      return fail(ErrorCode::invalid,
                  "no job of the dump takes part: none has GPUs (or, without "
                  "GPUs anywhere, CPUs) in a partition of the cluster");
    }
    keep_ids(rows);
    std::vector<double>& limits = world_.trace.columns[std::string(limit_column)];
    for (const std::uint32_t row : rows) {
      add(row, rename);
      limits.push_back(limit_s(dump_.jobs[row]));
    }
    world_.of = rows;
    world_.trace.report = dump_.report;
    world_.trace.report.kept = rows.size();
    if (const auto out = dump_.jobs.size() - rows.size(); out > 0)
      world_.trace.report.dropped["takes part in no virtual cluster (no GPUs)"] = out;
    return std::move(world_);
  }

 private:
  [[nodiscard]] bool pinned(const AccountedJob& job) const {
    return job.start < world_.complete_from;
  }

  /// When the job enters the queue. What waited when the record becomes complete enters then.
  [[nodiscard]] SimTime entry(const AccountedJob& job) const {
    return pinned(job) ? job.start : std::max(job.eligible, world_.complete_from);
  }

  /// Jobs that take part, by entry; equal times by eligible time, then in file order.
  [[nodiscard]] std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < dump_.jobs.size(); ++i)
      if (cluster_.vc_of_job[i] != no_index) rows.push_back(i);
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t i) { return entry(dump_.jobs[i]); });
    return rows;
  }

  void keep_ids(const std::vector<std::uint32_t>& rows) {
    std::size_t bytes = 0;
    for (const std::uint32_t row : rows) bytes += dump_.jobs[row].id.size();
    next_id_ = world_.trace.text.emplace_back(std::make_unique<char[]>(bytes + 1)).get();
  }

  std::uint32_t user_of(const std::string& name,
                        const std::function<std::string(std::string_view)>& rename) {
    const auto [place, is_new] =
        users_.emplace(name, static_cast<std::uint32_t>(world_.trace.users.size()));
    if (is_new) world_.trace.users.push_back(rename(name));
    return place->second;
  }

  void add(std::uint32_t row, const std::function<std::string(std::string_view)>& rename) {
    const AccountedJob& from = dump_.jobs[row];
    Job job;
    job.vc = cluster_.vc_of_job[row];
    std::memcpy(next_id_, from.id.data(), from.id.size());
    job.id = {next_id_, from.id.size()};
    next_id_ += from.id.size();
    job.user = user_of(from.user, rename);
    const std::int64_t amount = amount_of(from, cluster_.resource);
    const std::int64_t unit = cluster_.unit[job.vc];
    job.gpus = static_cast<std::int32_t>((amount + unit - 1) / unit);
    job.submit = entry(from);
    job.duration = from.end - from.start;
    job.state = from.running ? EndState::unknown : state_of(from.state);
    world_.trace.jobs.push_back(job);
    world_.past.push_back(
        {from.eligible, from.start, from.end, pinned(from), from.running, amount});
  }

  /// accounting knows more states than the simulator's outputs.
  static EndState state_of(std::string_view state) {
    if (state == "BOOT_FAIL") return EndState::node_fail;
    if (state == "DEADLINE") return EndState::timeout;
    return end_state_named(state).value_or(EndState::cancelled);
  }

  double limit_s(const AccountedJob& job) {
    Seconds limit = as_typed(job.end - job.start);
    if (job.limit_kind == LimitKind::given && job.limit > Seconds(0)) {
      limit = job.limit;
      ++world_.limits_given;
    } else if (job.limit_kind == LimitKind::unlimited) {
      limit = unlimited;
      ++world_.limits_unlimited;
    } else {
      ++world_.limits_guessed;
    }
    return static_cast<double>(limit.count());
  }

  const AccountingDump& dump_;
  const InferredCluster& cluster_;
  RecordedCluster world_;
  std::map<std::string, std::uint32_t, std::less<>> users_;
  char* next_id_ = nullptr;
};

}  // namespace

Resource resource_of(const AccountingDump& dump) {
  const bool any = std::ranges::any_of(dump.jobs, [](const AccountedJob& j) { return j.gpus > 0; });
  return any ? Resource::gpus : Resource::cpus;
}

std::int64_t amount_of(const AccountedJob& job, Resource resource) {
  return resource == Resource::gpus ? job.gpus : job.cpus;
}

InferredCluster start_cluster(const AccountingDump& dump) {
  InferredCluster seen;
  seen.resource = resource_of(dump);
  if (seen.resource == Resource::cpus)
    seen.notes.emplace_back("no job of the dump has GPUs: CPUs are counted instead");
  return seen;
}

Result<RecordedCluster> make_world(const AccountingDump& dump, const InferredCluster& cluster,
                                   const std::function<std::string(std::string_view)>& rename) {
  return WorldBuilder(dump, cluster).build(rename);
}

}  // namespace schedmate::whatif
