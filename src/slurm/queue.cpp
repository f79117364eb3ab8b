// SPDX-License-Identifier: Apache-2.0
#include "slurm/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <set>

#include "base/text.hpp"
#include "base/words.hpp"
#include "slurm/held.hpp"
#include "slurm/records.hpp"
#include "slurm/shown.hpp"
#include "slurm/shown_parts.hpp"
#include "trace/hostlist.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm {
namespace {

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

class QueueReader {
 public:
  Result<void> take(const ShownRecord& record) {
    const bool named = record.kind == "JobId" || record.kind == "NodeName" ||
                       record.kind == "PartitionName" || record.kind == "ReservationName";
    if (named && is_second(record)) return {};
    if (named && record.values.text(record.kind).empty()) return wrong(record, "has no name");
    if (record.kind == "JobId") return take_job(record);
    if (record.kind == "NodeName") return take_node(record);
    if (record.kind == "PartitionName") return take_partition(record);
    if (record.kind == "ReservationName") return take_reservation(record);
    if (record.kind == "NoJobs") any_job_ = true;
    if (record.kind == "Cluster" && queue_.cluster.empty())
      queue_.cluster = record.values.text("Cluster");
    if (record.kind == "LastUpdate") changed_ = record.values.when("LastUpdate");
    if (record.kind == "Error" && complaint_.empty())
      complaint_ = fmt::format("{}: Slurm said: {}", record.line,
                               record.values.text("Error").substr(0, 200));
    if (record.kind != "Configuration") return {};
    if (record.values.has("ClusterName")) queue_.cluster = record.values.text("ClusterName");
    queue_.settings.merge(settings_in(record.values));
    if (const auto now = record.values.when("Configuration")) queue_.now = *now;
    return {};
  }

  Result<ClusterQueue> finish(std::string_view text) && {
    if (queue_.nodes.empty()) return missing("node", "`scontrol show node` or `sinfo --json`");
    if (!any_job_) return missing("job", "`scontrol show job -d` or `squeue --json`");
    if (!complaint_.empty()) queue_.notes.push_back(complaint_);
    note_times();
    if (queue_.now == SimTime()) return missing("instant", "`scontrol show config`");
    if (queue_.partitions.empty())
      derive_partitions();
    else
      note_strangers();
    std::ranges::stable_sort(queue_.jobs, {}, &QueuedJob::submit);
    if (auto fits = check_held(queue_, nodes_after_jobs_); !fits)
      return tl::unexpected(fits.error());
    queue_.limits = read_limits(text, queue_);
    queue_.text_times = !is_json_["JobId"];
    return std::move(queue_);
  }

 private:
  /// Whether there is another source of such records, which came first.
  bool is_second(const ShownRecord& record) {
    const auto [first, fresh] = is_json_.try_emplace(record.kind, record.json);
    if (first->second == record.json) return false;
    constexpr std::string_view note = "what is there both as text and as JSON was read once";
    if (std::ranges::find(queue_.notes, note) == queue_.notes.end())
      queue_.notes.emplace_back(note);
    return true;
  }

  /// When it is, and what cannot have happened by then.
  void note_times() {
    constexpr Seconds usual{5};
    constexpr Seconds far{15 * 60};
    const SimTime config = queue_.now;
    const SimTime of_jobs = std::max(latest_, changed_.value_or(SimTime()));
    if (config == SimTime()) queue_.now = of_jobs;
    const bool other_zone = is_json_["JobId"] && config != SimTime() &&
                            (of_jobs - config > far || (changed_ && config - of_jobs > far));
    if (other_zone) {
      queue_.now = of_jobs;
      queue_.notes.push_back(
          fmt::format("the settings are of another time than the jobs, by {}: recorded at another "
                      "time, or text "
                      "not in UTC (TZ=UTC scontrol ...); the jobs' time was taken",
                      in_words(of_jobs > config ? of_jobs - config : config - of_jobs)));
    }
    std::int64_t late = 0;
    std::string first;
    for (QueuedJob& job : queue_.jobs) {
      const SimTime happened = job.runs() ? std::max(job.submit, *job.start) : job.submit;
      if (happened > queue_.now + usual && ++late == 1) first = job.id;
      job.submit = std::min(job.submit, queue_.now);
      if (job.runs()) job.start = std::min(*job.start, queue_.now);
    }
    if (late > 0)
      queue_.notes.push_back(fmt::format(
          "submitted or started after the time that this was recorded: {} (the first: {}); clocks "
          "differ, and it is taken to have been just then",
          counted(late, "job"), first));
  }

  static tl::unexpected<Error> wrong(const ShownRecord& record, std::string_view what) {
    return fail(ErrorCode::invalid, fmt::format("{}: {} {}: {}", record.line, record.kind,
                                                record.values.text(record.kind), what));
  }
  [[nodiscard]] tl::unexpected<Error> missing(std::string_view what,
                                              std::string_view command) const {
    if (!complaint_.empty()) return fail(ErrorCode::invalid, complaint_);
    return fail(ErrorCode::invalid, fmt::format("shows no {}: add {}", what, command));
  }

  Result<void> take_job(const ShownRecord& record) {
    const Shown& shown = record.values;
    any_job_ = true;
    QueuedJob job;
    job.id = id_of(shown);
    if (!seen_.insert("job " + job.id).second) return wrong(record, "is there twice");
    job.state = shown.text("JobState");
    if (job.state.empty())
      return wrong(record, record.json ? "has no job_state (squeue --json)"
                                       : "has no JobState (scontrol show job -d, without -o)");
    if (!record.whole) return wrong(record, "is cut off");
    for (const char* const key : {"StartTime", "EligibleTime", "SubmitTime", "LastSchedEval"})
      if (const auto when = shown.when(key);
          when && (key != std::string_view("StartTime") || job.runs()))
        note_time(key, *when);
    if (!job.runs() && !job.waits()) {
      if (!has_ended(job.state))
        queue_.notes.push_back(fmt::format("job {} is left out: what the state {} is, is not known",
                                           job.id, job.state.substr(0, 40)));
      else
        queue_.ended[job.id] = job.state;
      return {};
    }
    const auto submit = shown.when("SubmitTime");
    if (!submit) return wrong(record, "has a SubmitTime that is no date");
    job.submit = *submit;
    read_owner(shown, job);
    read_request(shown, job);
    const auto gpus = gpus_asked_for(shown, job.nodes);
    if (!gpus) return wrong(record, gpus.error().message);
    job.gpus = *gpus;
    job.eligible = shown.when("EligibleTime");
    job.start = shown.when("StartTime");
    if (job.runs()) {
      if (!job.start) return wrong(record, "runs, but has no StartTime");
      auto held = held_by(shown, job.gpus);
      if (!held) return wrong(record, held.error().message);
      job.held = std::move(*held);
      if (job.gpus == 0)
        for (const HeldNode& each : job.held) job.gpus += each.gpus;
    }
    queue_.jobs.push_back(std::move(job));
    return {};
  }

  /// Where no settings say when the snapshot was made: nothing that has happened is later.
  void note_time(std::string_view key, SimTime when) {
    if (key != "EligibleTime") latest_ = std::max(latest_, when);
  }

  static void read_owner(const Shown& shown, QueuedJob& job) {
    const std::string_view user = shown.text("UserId");
    job.user = user.substr(0, user.find('('));
    job.account = shown.text("Account");
    job.qos = shown.text("QOS");
    job.name = shown.text("JobName");
    job.workdir = shown.text("WorkDir");
    job.log = shown.text("StdOut");
  }

  void read_request(const Shown& shown, QueuedJob& job) {
    job.partitions = listed(shown.text("Partition"));
    job.reason = shown.text("Reason") == "None" ? "" : shown.text("Reason");
    job.dependency = shown.text("Dependency");
    job.reservation = shown.text("Reservation");
    job.nodes = std::clamp<std::int64_t>(shown.whole("NumNodes"), 1, trace::most_hosts);
    job.cpus = std::max<std::int64_t>(0, shown.whole("NumCPUs"));
    for (const char* const key : {"TRES", "AllocTRES", "ReqTRES"})
      if (job.memory_mib == 0)
        job.memory_mib =
            trace::parse_memory_mib(trace::tres_value(shown.text(key), "mem"), 1).value_or(0);
    job.priority = shown.whole("Priority");
    job.limit = shown.duration("TimeLimit");
    const std::string_view tasks = shown.text("ArrayTaskId");
    if (job.waits() && !tasks.empty()) job.tasks_of_array = tasks_of(tasks);
    job.required_nodes = hosts(shown.text("ReqNodeList"), job.id);
    job.excluded_nodes = hosts(shown.text("ExcNodeList"), job.id);
    job.features = shown.text("Features");
    for (const char* const key : {"TresPerJob", "TresPerNode", "TresPerTask"})
      if (job.gpu_types.empty()) job.gpu_types = trace::gpu_types_of_tres(shown.text(key));
  }

  std::vector<std::string> hosts(std::string_view list, std::string_view of) {
    auto names = trace::expand_hosts(list);
    if (names) return *std::move(names);
    queue_.notes.push_back(fmt::format("{}: {}", of, names.error().message));
    return {};
  }

  Result<void> take_node(const ShownRecord& record) {
    const Shown& shown = record.values;
    ClusterNode node;
    node.name = shown.text("NodeName");
    if (!seen_.insert("node " + node.name).second) return wrong(record, "is there twice");
    node.state = shown.text("State");
    if (!record.whole) return wrong(record, "is cut off");
    if (node.state.empty()) return wrong(record, "has no State");
    node.partitions = listed(shown.text("Partitions"));
    node.features = listed(shown.text("AvailableFeatures"));
    node.out_since = since_of(shown);
    const std::string_view items = shown.text("Gres");
    const auto gpus = gpus_in(items);
    if (!gpus) return wrong(record, gpus.error().message);
    if (*gpus > most_gpus_of_node)
      return wrong(record, fmt::format("has {} GPUs, more than {}", *gpus, most_gpus_of_node));
    node.gpus = *gpus;
    node.gpu_type = trace::gpu_types_of_tres(items);
    read_state(node);
    read_use(shown, node);
    nodes_after_jobs_ = any_job_;
    node.cpus = shown.whole("CPUTot");
    node.free_cpus = node.cpus - shown.whole("CPUAlloc");
    node.memory_mib = static_cast<double>(shown.whole("RealMemory"));
    node.free_memory_mib = node.memory_mib - static_cast<double>(shown.whole("AllocMem"));
    queue_.nodes.push_back(std::move(node));
    return {};
  }

  /// Of "bad fan [root@2026-08-01T10:00:00]".
  static std::optional<SimTime> since_of(const Shown& shown) {
    const std::string_view reason = shown.text("Reason");
    const std::size_t mark = reason.rfind('@');
    if (mark == std::string_view::npos || !reason.ends_with(']')) return shown.when("ReasonTime");
    Shown date;
    date.put("", reason.substr(mark + 1, reason.size() - mark - 2));
    return date.when("");
  }

  void read_state(ClusterNode& node) {
    constexpr auto bases = std::to_array<std::string_view>(
        {"IDLE", "MIXED", "ALLOCATED", "COMPLETING", "PLANNED", "RESERVED", "DOWN", "UNKNOWN",
         "FUTURE", "ERROR", "DRAINED", "DRAINING", "MAINT", "FAIL", "FAILING", "INVAL"});
    constexpr auto barred = std::to_array<std::string_view>(
        {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "MAINT", "REBOOT",
         "REBOOT_ISSUED", "REBOOT_REQUESTED", "UNKNOWN", "FUTURE", "POWERING_DOWN", "POWER_DOWN",
         "NOT_RESPONDING", "INVALID_REG", "INVAL", "BLOCKED"});
    const auto there = [&](std::string_view word) { return has_word(node.state, word); };
    const bool known = std::ranges::any_of(bases, there);
    if (!known)
      queue_.notes.push_back(
          fmt::format("node {} is taken to start no job: what the state {} is, is "
                      "not known",
                      node.name, node.state.substr(0, 40)));
    const bool answers = known && !node.state.contains('*');
    node.takes_jobs = answers && std::ranges::none_of(barred, there);
    node.only_maintenance = answers && std::ranges::all_of(barred, [&](std::string_view word) {
                              return word == "MAINT" || !there(word);
                            });
  }

  static void read_use(const Shown& shown, ClusterNode& node) {
    const std::string_view used = shown.text("GresUsed");
    if (used.contains("gpu")) {
      node.used = gpus_in(used).value_or(0);
      const std::uint64_t which = gpus_by_index(used);
      if (std::popcount(which) == *node.used) node.which_used = which;
    } else if (shown.text("CfgTRES").contains("gres/gpu")) {
      node.used = gpus_in(shown.text("AllocTRES")).value_or(0);
    }
  }

  Result<void> take_partition(const ShownRecord& record) {
    const Shown& shown = record.values;
    Partition partition;
    partition.name = shown.text("PartitionName");
    if (!seen_.insert("partition " + partition.name).second) return wrong(record, "is there twice");
    if (!record.whole) return wrong(record, "is cut off");
    partition.own_qos = shown.text("QoS");
    partition.nodes = hosts(shown.text("Nodes"), partition.name);
    partition.up = shown.text("State").empty() || shown.text("State") == "UP";
    partition.most = shown.duration("MaxTime");
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
      return wrong(record,
                   record.whole ? "has no span between StartTime and EndTime" : "is cut off");
    made.start = *start;
    made.end = *end;
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
    queue_.notes.emplace_back(
        "no partitions are shown: they are taken to be those of the nodes, without limits");
  }

  void note_strangers() {
    std::set<std::string_view> known;
    for (const ClusterNode& node : queue_.nodes) known.insert(node.name);
    for (const Partition& partition : queue_.partitions) {
      const auto other = std::ranges::find_if(
          partition.nodes, [&](const std::string& name) { return !known.contains(name); });
      if (other != partition.nodes.end())
        queue_.notes.push_back(
            fmt::format("partition {} has nodes that are not shown (the first: {}): their GPUs are "
                        "not counted",
                        partition.name, *other));
    }
  }

  ClusterQueue queue_;
  std::set<std::string, std::less<>> seen_;
  /// Whether records of such a kind come as JSON.
  std::map<std::string, bool, std::less<>> is_json_;
  SimTime latest_;
  std::optional<SimTime> changed_;  ///< the jobs, as their document says
  std::string complaint_;
  bool any_job_ = false;
  bool nodes_after_jobs_ = false;
};

}  // namespace

Result<ClusterQueue> read_queue(std::string_view text) {
  const auto records = read_records(text);
  if (!records) return tl::unexpected(records.error());
  QueueReader reader;
  for (const ShownRecord& record : *records)
    if (auto taken = reader.take(record); !taken) return tl::unexpected(taken.error());
  return std::move(reader).finish(text);
}

}  // namespace schedmate::slurm
