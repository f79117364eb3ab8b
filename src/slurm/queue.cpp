// SPDX-License-Identifier: Apache-2.0
#include "slurm/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "slurm/shown.hpp"
#include "trace/hostlist.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm {
namespace {

constexpr int most_gpus_of_node = 64;

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, ','))
    if (!name.empty()) names.emplace_back(name);
  return names;
}

/// Those of "a,b"; none of "ALL".
std::vector<std::string> named(std::string_view list) {
  return list == "ALL" ? std::vector<std::string>() : listed(list);
}

/// "0-1,3" as bits; 0 where it is no such list, or one is beyond a node.
std::uint64_t bits_of(std::string_view list) {
  std::uint64_t which = 0;
  for (const auto range : split(list, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_number<int>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most_gpus_of_node) return 0;
    for (int gpu = *first; gpu <= *last; ++gpu)
      which |= std::uint64_t{1} << static_cast<unsigned>(gpu);
  }
  return which;
}

/// Of "gpu:fake:4(IDX:0-1,3),shard:2(IDX:0)" the GPUs; 0 where they are not all said.
std::uint64_t gpus_by_index(std::string_view gres) {
  constexpr std::string_view mark = "(IDX:";
  std::uint64_t which = 0;
  for (std::size_t begin = 0; begin < gres.size();) {
    const std::size_t open = gres.find(mark, begin);
    const std::size_t close = gres.find(')', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view item = gres.substr(begin, open - begin);
    if (item.substr(std::min(item.find_first_not_of(", "), item.size())).starts_with("gpu"))
      which |= bits_of(gres.substr(open + mark.size(), close - open - mark.size()));
    begin = close + 1;
  }
  return which;
}

struct TaskRange {
  std::int64_t first = 0, last = -1, step = 1;
};

/// "0-3%1", "1,5-9:2".
std::vector<TaskRange> tasks_listed(std::string_view list) {
  std::vector<TaskRange> ranges;
  for (const auto range : split(list.substr(0, list.find('%')), ',')) {
    const std::size_t dash = range.find('-');
    const std::size_t colon = range.find(':');
    const auto first = parse_number<std::int64_t>(range.substr(0, dash));
    if (!first) continue;
    if (dash == std::string_view::npos) {
      ranges.push_back({*first, *first, 1});
      continue;
    }
    const auto last = parse_number<std::int64_t>(
        range.substr(dash + 1, colon == std::string_view::npos ? colon : colon - dash - 1));
    const auto step = colon == std::string_view::npos
                          ? std::optional<std::int64_t>(1)
                          : parse_number<std::int64_t>(range.substr(colon + 1));
    if (last && step && *step > 0 && *last >= *first) ranges.push_back({*first, *last, *step});
  }
  return ranges;
}

std::int64_t tasks_of(std::string_view list) {
  constexpr std::int64_t most = 1'000'000;
  std::int64_t count = 0;
  for (const TaskRange& range : tasks_listed(list))
    count = std::min(most, count + std::min(most, (range.last - range.first) / range.step + 1));
  return std::max<std::int64_t>(1, count);
}

class QueueReader {
 public:
  explicit QueueReader(bool no_jobs) : any_job_(no_jobs) {}

  Result<void> take(const ShownRecord& record) {
    if (record.kind == "JobId") return take_job(record);
    if (record.kind == "NodeName") return take_node(record);
    if (record.kind == "PartitionName") return take_partition(record);
    if (record.kind == "ReservationName") return take_reservation(record);
    for (const char* const key : settings_read)
      if (record.values.has(key)) queue_.settings[key] = record.values.text(key);
    if (const auto now = record.values.when("Configuration")) queue_.now = *now;
    return {};
  }

  Result<ClusterQueue> finish() && {
    if (queue_.nodes.empty()) return missing("scontrol show node");
    if (!any_job_) return missing("scontrol show job -d");
    if (queue_.now == SimTime()) queue_.now = latest_;
    if (queue_.now == SimTime()) return missing("scontrol show config");
    if (queue_.partitions.empty()) derive_partitions();
    std::ranges::stable_sort(queue_.jobs, {}, &QueuedJob::submit);
    return std::move(queue_);
  }

 private:
  static constexpr std::array settings_read = {"ClusterName",
                                               "SchedulerType",
                                               "SchedulerParameters",
                                               "PriorityType",
                                               "PriorityWeightAge",
                                               "PriorityWeightFairShare",
                                               "PriorityWeightJobSize",
                                               "PriorityWeightQOS",
                                               "PriorityMaxAge",
                                               "PriorityFavorSmall",
                                               "PriorityFlags",
                                               "PriorityDecayHalfLife",
                                               "SelectType",
                                               "SLURM_VERSION",
                                               "PreemptType",
                                               "AccountingStorageEnforce"};

  static tl::unexpected<Error> wrong(const ShownRecord& record, std::string_view what) {
    return fail(ErrorCode::invalid, fmt::format("{}: {} {}: {}", record.line, record.kind,
                                                record.values.text(record.kind), what));
  }
  static tl::unexpected<Error> missing(std::string_view command) {
    return fail(ErrorCode::invalid, fmt::format("has nothing of `{}`", command));
  }

  Result<void> take_job(const ShownRecord& record) {
    const Shown& shown = record.values;
    any_job_ = true;
    QueuedJob job;
    job.id = id_of(shown);
    if (!seen_.insert("job " + job.id).second) return wrong(record, "is there twice");
    job.state = shown.text("JobState");
    if (job.state.empty())
      return wrong(record, "it has no JobState (scontrol show job -d, without -o)");
    for (const char* const key : {"StartTime", "EligibleTime", "SubmitTime", "LastSchedEval"})
      if (const auto when = shown.when(key);
          when && (key != std::string_view("StartTime") || job.runs()))
        note_time(key, *when);
    if (!job.runs() && !job.waits()) {
      queue_.ended[job.id] = job.state;
      return {};
    }
    const auto submit = shown.when("SubmitTime");
    if (!submit) return wrong(record, "its SubmitTime is no date");
    job.submit = *submit;
    read_owner(shown, job);
    read_request(shown, job);
    job.eligible = shown.when("EligibleTime");
    job.start = shown.when("StartTime");
    if (job.runs()) {
      if (!job.start) return wrong(record, "it runs, but has no StartTime");
      if (auto held = read_held(shown, job); !held) return wrong(record, held.error().message);
    }
    queue_.jobs.push_back(std::move(job));
    return {};
  }

  /// Where no settings say when the snapshot was made: nothing that has happened is later.
  void note_time(std::string_view key, SimTime when) {
    if (key != "EligibleTime") latest_ = std::max(latest_, when);
  }

  static std::string id_of(const Shown& shown) {
    const std::string_view array = shown.text("ArrayJobId");
    const std::string_view tasks = shown.text("ArrayTaskId");
    if (array.empty() || tasks.empty()) return std::string(shown.text("JobId"));
    return parse_number<std::int64_t>(tasks) ? fmt::format("{}_{}", array, tasks)
                                             : fmt::format("{}_[{}]", array, tasks);
  }

  static void read_owner(const Shown& shown, QueuedJob& job) {
    const std::string_view user = shown.text("UserId");
    job.user = user.substr(0, user.find('('));
    job.account = shown.text("Account");
    job.qos = shown.text("QOS");
    job.name = shown.text("JobName");
    job.command = shown.text("Command");
    job.workdir = shown.text("WorkDir");
    job.log = shown.text("StdOut");
  }

  void read_request(const Shown& shown, QueuedJob& job) {
    job.partitions = listed(shown.text("Partition"));
    job.reason = shown.text("Reason") == "None" ? "" : shown.text("Reason");
    job.dependency = shown.text("Dependency");
    job.reservation = shown.text("Reservation");
    std::string_view tres = shown.text("TRES");
    if (tres.empty()) tres = shown.text("ReqTRES");
    if (tres.empty()) tres = shown.text("AllocTRES");
    job.gpus = trace::gpus_of_tres(tres).value_or(0);
    job.nodes = std::max<std::int64_t>(1, shown.whole("NumNodes"));
    job.cpus = shown.whole("NumCPUs");
    job.memory_mib = trace::parse_memory_mib(trace::tres_value(tres, "mem"), 1).value_or(0);
    job.priority = shown.whole("Priority");
    job.limit = shown.duration("TimeLimit");
    const std::string_view tasks = shown.text("ArrayTaskId");
    if (job.waits() && !tasks.empty()) job.tasks_of_array = tasks_of(tasks);
    job.tasks_at_once = shown.whole("ArrayTaskThrottle");
    job.required_nodes = hosts(shown.text("ReqNodeList"), job.id);
    job.excluded_nodes = hosts(shown.text("ExcNodeList"), job.id);
  }

  std::vector<std::string> hosts(std::string_view list, std::string_view of) {
    auto names = trace::expand_hosts(list);
    if (names) return *std::move(names);
    queue_.notes.push_back(fmt::format("{}: {}", of, names.error().message));
    return {};
  }

  /// From "Nodes=n[0-1] CPU_IDs=0 Mem=100 GRES=gpu:a100:4(IDX:0-3)", else evenly over NodeList.
  static Result<void> read_held(const Shown& shown, QueuedJob& job) {
    const auto nodes = shown.texts("Nodes");
    const auto gres = shown.texts("GRES");
    for (std::size_t i = 0; i < nodes.size() && nodes.size() == gres.size(); ++i) {
      const auto names = trace::expand_hosts(nodes[i]);
      if (!names) return tl::unexpected(names.error());
      const std::int64_t count = trace::gpus_of_tres(gres[i]).value_or(0);
      for (const std::string& name : *names)
        job.held.push_back({name, count, gpus_by_index(gres[i])});
    }
    if (!job.held.empty()) return {};
    const auto names = trace::expand_hosts(shown.text("NodeList"));
    if (!names) return tl::unexpected(names.error());
    if (names->empty()) return fail(ErrorCode::invalid, "it runs, but on no node");
    const auto share = job.gpus / static_cast<std::int64_t>(names->size());
    for (const std::string& name : *names) job.held.push_back({name, share, 0});
    return {};
  }

  Result<void> take_node(const ShownRecord& record) {
    const Shown& shown = record.values;
    ClusterNode node;
    node.name = shown.text("NodeName");
    if (!seen_.insert("node " + node.name).second) return wrong(record, "is there twice");
    node.state = shown.text("State");
    if (node.state.empty()) return wrong(record, "it has no State");
    node.reason = shown.text("Reason");
    node.partitions = listed(shown.text("Partitions"));
    const std::string_view items = shown.text("Gres");
    node.gpus =
        std::clamp<std::int64_t>(trace::gpus_of_tres(items).value_or(0), 0, most_gpus_of_node);
    node.gpu_type = trace::gpu_types_of_tres(items);
    node.cpus = shown.whole("CPUTot");
    node.free_cpus = node.cpus - shown.whole("CPUAlloc");
    node.memory_mib = static_cast<double>(shown.whole("RealMemory"));
    node.free_memory_mib = node.memory_mib - static_cast<double>(shown.whole("AllocMem"));
    constexpr std::array<std::string_view, 9> barred = {
        "DOWN",    "DRAIN",  "FAIL",          "MAINT",         "REBOOT",
        "UNKNOWN", "FUTURE", "POWERING_DOWN", "NOT_RESPONDING"};
    node.takes_jobs = !node.state.contains('*') && std::ranges::none_of(barred, [&](auto word) {
      return node.state.contains(word);
    });
    queue_.nodes.push_back(std::move(node));
    return {};
  }

  Result<void> take_partition(const ShownRecord& record) {
    const Shown& shown = record.values;
    Partition partition;
    partition.name = shown.text("PartitionName");
    if (!seen_.insert("partition " + partition.name).second) return wrong(record, "is there twice");
    partition.nodes = hosts(shown.text("Nodes"), partition.name);
    partition.up = shown.text("State").empty() || shown.text("State") == "UP";
    partition.most = shown.duration("MaxTime");
    partition.usual = shown.duration("DefaultTime");
    partition.tier = std::max<std::int64_t>(0, shown.whole("PriorityTier"));
    partition.most_nodes = shown.whole("MaxNodes");
    partition.accounts = named(shown.text("AllowAccounts"));
    partition.qos = named(shown.text("AllowQos"));
    partition.for_all = named(shown.text("AllowGroups")).empty() && !shown.has("DenyAccounts") &&
                        !shown.has("DenyQos") && shown.text("RootOnly") != "YES" &&
                        shown.text("ReqResv") != "YES";
    queue_.partitions.push_back(std::move(partition));
    return {};
  }

  Result<void> take_reservation(const ShownRecord& record) {
    const Shown& shown = record.values;
    Reservation made;
    made.name = shown.text("ReservationName");
    const auto start = shown.when("StartTime");
    const auto end = shown.when("EndTime");
    if (!start || !end || *end < *start)
      return wrong(record, "its StartTime and EndTime are no span");
    made.start = *start;
    made.end = *end;
    made.users = shown.text("Users");
    made.accounts = shown.text("Accounts");
    made.flags = shown.text("Flags");
    made.nodes = hosts(shown.text("Nodes"), made.name);
    queue_.reservations.push_back(std::move(made));
    return {};
  }

  void derive_partitions() {
    std::map<std::string, Partition, std::less<>> found;
    for (const ClusterNode& node : queue_.nodes)
      for (const std::string& name : node.partitions) {
        found[name].name = name;
        found[name].nodes.push_back(node.name);
      }
    for (auto& [name, partition] : found) queue_.partitions.push_back(std::move(partition));
  }

  ClusterQueue queue_;
  std::set<std::string, std::less<>> seen_;
  SimTime latest_;
  bool any_job_;
};

}  // namespace

bool QueuedJob::runs() const {
  return state.starts_with("RUNNING") || state.starts_with("SUSPENDED") ||
         state.starts_with("COMPLETING") || state.starts_with("CONFIGURING") ||
         state.starts_with("STOPPED") || state.starts_with("SIGNALING") ||
         state.starts_with("STAGE_OUT");
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

Result<ClusterQueue> read_queue(std::string_view text) {
  QueueReader reader(text.contains("No jobs in the system"));
  for (const ShownRecord& record : read_shown(text))
    if (auto taken = reader.take(record); !taken) return tl::unexpected(taken.error());
  return std::move(reader).finish();
}

}  // namespace schedmate::slurm
