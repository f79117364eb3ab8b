// SPDX-License-Identifier: Apache-2.0
#include "trace/accounting_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "trace/hostlist.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

constexpr std::size_t most_report_messages = 20;
constexpr std::size_t longest_word = 1024;
constexpr std::size_t most_named_clusters = 5;
/// Nodes of all jobs together: a small file can name very many.
constexpr std::uint64_t most_node_uses = 10'000'000;
/// Nodes and GPUs of all jobs together whose use is kept one by one.
constexpr std::uint64_t most_units = 2'000'000;
/// More bad rows than one in this many, and the dump is not believed.
constexpr std::uint64_t bad_rows_limit = 10;
/// More restarts of a job are none that were counted: Slurm writes 4294967294 for "not set".
constexpr std::int64_t most_restarts = 1'000'000;

bool is_slurm_state(std::string_view word) {
  constexpr std::array<std::string_view, 27> words = {
      "BOOT_FAIL",   "CANCELLED",    "COMPLETED",     "DEADLINE",      "FAILED",
      "NODE_FAIL",   "PENDING",      "OUT_OF_MEMORY", "PREEMPTED",     "RUNNING",
      "REQUEUED",    "RESIZING",     "REVOKED",       "SUSPENDED",     "TIMEOUT",
      "COMPLETING",  "CONFIGURING",  "LAUNCH_FAILED", "POWER_UP_NODE", "RECONFIG_FAIL",
      "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SIGNALING",     "SPECIAL_EXIT",
      "STOPPED",     "EXPEDITING"};
  return word == "STAGE_OUT" || std::ranges::find(words, word) != words.end();
}

std::string_view first_word(std::string_view state) {
  return state.substr(0, state.find_first_of(" +"));
}

bool is_time(std::optional<std::int64_t> time) {
  return !time || (*time > 0 && *time <= latest_submit_s);
}

using Fault = std::optional<RowFault>;

/// The times of a row on their own and in their order.
Fault check_times(const AccountingRow& row) {
  using Time = std::pair<RowField, std::optional<std::int64_t>>;
  for (const auto& [field, time] : {Time{RowField::submit, row.submit_s},
                                    {RowField::eligible, row.eligible_s},
                                    {RowField::start, row.start_s},
                                    {RowField::end, row.end_s}}) {
    if (!is_time(time)) return RowFault{field, "is not a time between 1970 and 2223"};
  }
  if (!row.submit_s) return RowFault{RowField::submit, "is not known; every job has one"};
  if (row.start_s && *row.start_s < *row.submit_s) {
    return RowFault{
        RowField::start,
        "is before Submit (local time when the clocks went back? make the dump with TZ=UTC)"};
  }
  if (!row.start_s || !row.end_s) return std::nullopt;
  if (*row.end_s < *row.start_s) {
    return RowFault{
        RowField::end,
        "is before Start (local time when the clocks went back? make the dump with TZ=UTC)"};
  }
  if (*row.end_s - *row.start_s > longest_run_s)
    return RowFault{RowField::end, "is more than ten years after Start"};
  return std::nullopt;
}

Fault check_names(const AccountingRow& row) {
  if (row.id.empty()) return RowFault{RowField::id, "is empty"};
  const std::size_t longest =
      std::max({row.id.size(), row.user.size(), row.partition.size(), row.qos.size(),
                row.reason.size(), row.gpu_type.size(), row.cluster.size(), row.group.size()});
  if (longest > longest_word) {
    return RowFault{RowField::id, "or another name in this row is longer than 1,024 characters"};
  }
  if (row.gpus < 0 || row.gpus > most_gpus)
    return RowFault{RowField::gpus, "is not a plausible number of GPUs (0 to a million)"};
  return std::nullopt;
}

enum class Standing : std::uint8_t { waits, never_ran, runs, ended, lost };

/// Slurm gives a job that was cancelled while it waited one time as Start and End.
bool never_started(const AccountingRow& row) {
  if (!row.start_s || row.start_s != row.end_s) return false;
  if (row.nodes == "None assigned") return true;
  return row.nodes.empty() && !row.allocated && first_word(row.state) == "CANCELLED";
}

/// Where a job stood when the dump was made. A requeued attempt has its start and its end like any
/// other that is over, though Slurm counts REQUEUED among the states of a waiting job.
Standing standing_of(const AccountingRow& row, bool lenient) {
  if (lenient && row.state.empty() && row.start_s) return Standing::ended;
  const RunState life = run_state(row.state);
  if (life == RunState::ended && never_started(row)) return Standing::never_ran;
  if (row.start_s && row.end_s && life != RunState::running) return Standing::ended;
  if (row.start_s && (life == RunState::running || row.state == "CONFIGURING"))
    return Standing::runs;
  if (row.start_s) return life == RunState::waiting ? Standing::waits : Standing::ended;
  if (life == RunState::running) return Standing::lost;
  return life == RunState::waiting ? Standing::waits : Standing::never_ran;
}

/// The number that "17_3" begins with: Slurm counts jobs upwards, whatever the order of the file.
std::uint64_t number_of(std::string_view id) {
  const std::size_t end = id.find_first_not_of("0123456789");
  return parse_number<std::uint64_t>(id.substr(0, end)).value_or(0);
}

/// "17+1" of a het job: the part before the sign, or "".
std::string_view het_leader(std::string_view id) {
  const std::size_t plus = id.find('+');
  return plus == std::string_view::npos ? std::string_view() : id.substr(0, plus);
}

/// The nodes of a component without GPUs say nothing of where the GPUs are.
void add_component(AccountedJob& whole, AccountedJob& part) {
  if (whole.gpus == 0 && part.gpus > 0) {
    whole.nodes = std::move(part.nodes);
    whole.node_list = std::move(part.node_list);
    whole.gpu_type = part.gpu_type;
  } else if (whole.gpus == 0 || part.gpus > 0) {
    whole.nodes.insert(whole.nodes.end(), part.nodes.begin(), part.nodes.end());
    whole.node_list += "," + part.node_list;
  }
  whole.gpus += part.gpus;
  whole.cpus += part.cpus;
  if (whole.memory_mib && part.memory_mib) *whole.memory_mib += *part.memory_mib;
  if (whole.use.cpu_time && part.use.cpu_time) *whole.use.cpu_time += *part.use.cpu_time;
  if (whole.use.memory_mib && part.use.memory_mib) *whole.use.memory_mib += *part.use.memory_mib;
  if (part.use.energy_j) whole.use.energy_j = whole.use.energy_j.value_or(0) + *part.use.energy_j;
  whole.use.nodes.insert(whole.use.nodes.end(), part.use.nodes.begin(), part.use.nodes.end());
  if (whole.unread.empty()) whole.unread = part.unread;
  whole.start = std::min(whole.start, part.start);
  whole.end = std::max(whole.end, part.end);
  whole.running = whole.running || part.running;
}

}  // namespace

std::optional<double> known_energy(std::optional<double> joules) {
  constexpr double most = 1e15;
  return joules && *joules > 0 && *joules < most ? joules : std::nullopt;
}

AccountingBuilder::AccountingBuilder(std::string name, const AccountingOptions& options)
    : name_(std::move(name)), strict_(options.strict), lenient_(options.lenient) {}

Fault AccountingBuilder::check_row(const AccountingRow& row) const {
  if (auto fault = check_names(row)) return fault;
  if (!(lenient_ && row.state.empty()) && !is_slurm_state(first_word(row.state))) {
    return RowFault{RowField::state,
                    "is not a Slurm state (is a field missing or shifted in this row?)"};
  }
  return check_times(row);
}

void AccountingBuilder::skip(std::string_view reason) {
  ++dump_.report.rows;
  ++dump_.report.dropped[std::string(reason)];
}

void AccountingBuilder::reject(std::string_view reason, std::uint64_t line, std::size_t column) {
  skip("bad row");
  last_job_.clear();
  ++bad_;
  ++jobs_;
  if (dump_.report.messages.size() < most_report_messages) {
    dump_.report.messages.push_back(column == 0
                                        ? fmt::format("{}:{}: {}", name_, line, reason)
                                        : fmt::format("{}:{}:{}: {}", name_, line, column, reason));
  }
  stopped_ = strict_;
}

Fault AccountingBuilder::take_nodes(std::string_view list, AccountedJob& job) {
  if (list != last_list_) {
    const auto names = expand_hosts(list);
    if (!names) return RowFault{RowField::nodes, names.error().message};
    last_nodes_.clear();
    for (const std::string& name : *names) {
      const auto [place, is_new] =
          node_index_.emplace(name, static_cast<std::uint32_t>(dump_.nodes.size()));
      if (is_new) dump_.nodes.push_back(name);
      last_nodes_.push_back(place->second);
    }
    last_list_ = list;
  }
  node_uses_ += last_nodes_.size();
  if (node_uses_ > most_node_uses)
    return RowFault{RowField::nodes, "brings the node count of all jobs to more than ten million"};
  job.nodes = last_nodes_;
  return std::nullopt;
}

void AccountingBuilder::note_cluster(std::string_view cluster) {
  if (cluster.empty() || clusters_.size() == most_named_clusters || clusters_.contains(cluster))
    return;
  clusters_.emplace(cluster);
}

void AccountingBuilder::note_times(const AccountedJob& job) {
  dump_.last = std::max({dump_.last, job.submit, job.start, job.end});
  if (!job.running) dump_.first_end = std::min(dump_.first_end, job.end);
}

void AccountingBuilder::add_step(std::string_view job, const AccountedUse& use) {
  skip("job step");
  use_step(job, use);
}

void AccountingBuilder::use_step(std::string_view job, const AccountedUse& use) {
  if (last_job_.empty() || job != last_job_) return;
  AccountedUse& whole = dump_.jobs.back().use;
  // The row of the job has the sum of its steps, where it has one at all; memory is of one step.
  const auto greater = [](auto& ours, const auto& theirs) {
    if (theirs && (!ours || *ours < *theirs)) ours = theirs;
  };
  if (use.cpu_time && !job_has_cpu_time_)
    whole.cpu_time = whole.cpu_time.value_or(FractionalSeconds(0)) + *use.cpu_time;
  greater(whole.memory_mib, use.memory_mib);
  greater(whole.gpu_util_pct, use.gpu_util_pct);
  greater(whole.gpu_memory_mib, use.gpu_memory_mib);
  // Steps that run side by side meter the same nodes.
  greater(whole.energy_j, use.energy_j);
}

namespace {

/// Everything of a checked row that is taken as it is; it has a start.
void copy_row(const AccountingRow& row, AccountedJob& job) {
  job.id = row.id;
  job.user = row.user;
  job.group = row.group;
  job.partition = row.partition;
  job.qos = row.qos;
  job.name = row.name;
  job.work_dir = row.work_dir;
  job.submit_line = row.submit_line;
  job.state = first_word(row.state);
  job.account = row.account;
  job.cluster = row.cluster;
  job.log = row.log;
  job.reason = row.reason;
  job.exit_code = row.exit_code;
  job.submit = at(*row.submit_s);
  job.start = at(*row.start_s);
  // Slurm moves Eligible on when a job is held or requeued; never later than its start.
  job.eligible = std::min(at(row.eligible_s.value_or(*row.submit_s)), job.start);
  job.gpus = row.gpus;
  job.cpus = row.cpus;
  job.memory_mib = row.memory_mib;
  job.use = row.use;
  job.unread = row.unread;
  if (row.elapsed_s) job.elapsed = Seconds(*row.elapsed_s);
  job.node_list = row.nodes;
  job.gpu_type = row.gpu_type;
  job.limit_kind = row.limit_kind;
  job.limit = Seconds(row.limit_s);
  job.restarts = row.restarts > most_restarts ? 0 : std::max<std::int64_t>(0, row.restarts);
}

}  // namespace

Fault AccountingBuilder::add(const AccountingRow& row) {
  last_job_.clear();
  if (row.id.find('.') != std::string_view::npos) return skip("job step"), std::nullopt;
  if (auto fault = check_row(row)) return fault;
  note_cluster(row.cluster);
  const Standing standing = standing_of(row, lenient_);
  if (standing == Standing::lost)
    return RowFault{RowField::start, "is not known although the job is running"};
  if (standing == Standing::waits || standing == Standing::never_ran) {
    dump_.last = std::max(dump_.last, at(row.end_s.value_or(*row.submit_s)));
    ++jobs_;
    skip(standing == Standing::waits ? "still waiting at the end of the dump"
                                     : "ended before it started");
    return std::nullopt;
  }
  const bool running = standing == Standing::runs;
  std::optional<std::int64_t> end_s = row.end_s;
  if (!end_s && row.elapsed_s) end_s = *row.start_s + *row.elapsed_s;
  if (!running && !(lenient_ ? end_s : row.end_s)) {
    return RowFault{RowField::end,
                    "is not known although the job has ended (sacctmgr show runawayjobs)"};
  }
  AccountedJob job;
  if (auto fault = take_nodes(row.nodes, job)) return fault;
  copy_row(row, job);
  for (const UsedNode& node : job.use.nodes) units_ += 1 + node.gpus.size();
  if (units_ > most_units && !job.use.nodes.empty()) {
    job.use.nodes.clear();
    job.unread = "its nodes are not kept one by one: the dump has more than two million units";
  }
  job.end = at(end_s.value_or(*row.start_s));
  job.running = running;
  note_times(job);
  ++jobs_;
  ++dump_.report.rows;
  last_job_ = job.id;
  job_has_cpu_time_ = job.use.cpu_time.has_value();
  dump_.jobs.push_back(std::move(job));
  return std::nullopt;
}

/// What still runs holds its GPUs to the end of the dump.
void AccountingBuilder::end_running() {
  for (AccountedJob& job : dump_.jobs) {
    if (job.running) job.end = std::max(job.start, dump_.last);
  }
}

/// Rows of one id and one start are the same attempt twice (dumps put together). What ended says
/// more than what still ran when an older dump was made; else the later row does.
void AccountingBuilder::drop_repeats() {
  std::map<std::pair<std::string, SimTime>, std::size_t> index;
  std::vector<AccountedJob> kept;
  kept.reserve(dump_.jobs.size());
  for (AccountedJob& job : dump_.jobs) {
    const auto [place, is_new] = index.emplace(std::pair(job.id, job.start), kept.size());
    if (is_new) {
      kept.push_back(std::move(job));
      continue;
    }
    ++dump_.report.dropped["the same attempt again"];
    AccountedJob& before = kept[place->second];
    if (before.running || !job.running) before = std::move(job);
  }
  dump_.jobs = std::move(kept);
}

/// The components of a het job start and end together; those in one partition are one gang.
void AccountingBuilder::join_het_jobs() {
  std::map<std::tuple<std::string, std::string, SimTime>, std::uint32_t> gangs;
  std::vector<AccountedJob> kept;
  kept.reserve(dump_.jobs.size());
  for (AccountedJob& job : dump_.jobs) {
    const std::string leader(het_leader(job.id));
    if (leader.empty()) {
      kept.push_back(std::move(job));
      continue;
    }
    const auto [place, is_new] = gangs.emplace(std::tuple(leader, job.partition, job.submit),
                                               static_cast<std::uint32_t>(kept.size()));
    if (is_new) {
      kept.push_back(std::move(job));
      continue;
    }
    ++dump_.report.dropped["component of a het job, counted with its first one"];
    add_component(kept[place->second], job);
  }
  dump_.jobs = std::move(kept);
}

/// Rows of one id and several starts are the attempts of a requeued job. One that was started again
/// does not run any more; when it ended is not in the dump.
void AccountingBuilder::name_attempts() {
  std::ranges::stable_sort(dump_.jobs, {}, &AccountedJob::start);
  std::map<std::string, SimTime, std::less<>> last_start;
  for (const AccountedJob& job : dump_.jobs) last_start[job.id] = job.start;
  const auto outdated = std::erase_if(dump_.jobs, [&](const AccountedJob& job) {
    return job.running && job.start < last_start.at(job.id);
  });
  if (outdated > 0) dump_.report.dropped["still running, but started again later"] += outdated;
  std::map<std::string, int, std::less<>> attempts;
  for (AccountedJob& job : dump_.jobs) {
    if (const int attempt = ++attempts[job.id]; attempt > 1) job.id += fmt::format("#{}", attempt);
  }
}

std::string AccountingBuilder::why_empty() const {
  std::string text = fmt::format("{}: no job that started in {} rows", name_, dump_.report.rows);
  for (const auto& [reason, count] : dump_.report.dropped)
    text += fmt::format("; {}: {}", reason, count);
  if (dump_.report.rows == 0)
    text += " (did you give sacct --allusers and a --starttime that is early enough?)";
  return text;
}

Result<AccountingDump> AccountingBuilder::finish() && {
  const std::vector<std::string>& messages = dump_.report.messages;
  if (stopped_) return fail(ErrorCode::invalid, messages.front());
  if (!lenient_ && bad_ * bad_rows_limit > jobs_) {
    return fail(ErrorCode::invalid, fmt::format("{} ({} of {} rows cannot be read; at most one in "
                                                "{} may be bad)",
                                                messages.front(), bad_, jobs_, bad_rows_limit));
  }
  if (clusters_.size() > 1) {
    return fail(
        ErrorCode::invalid,
        fmt::format("{}: its rows are from several clusters ({}{}), which share neither nodes nor "
                    "job numbers; make one dump for each with `sacct --clusters NAME`",
                    name_, fmt::join(clusters_, ", "),
                    clusters_.size() == most_named_clusters ? ", ..." : ""));
  }
  if (dump_.jobs.empty() && !lenient_) return fail(ErrorCode::invalid, why_empty());
  drop_repeats();
  end_running();
  join_het_jobs();
  name_attempts();
  std::ranges::stable_sort(dump_.jobs, [](const AccountedJob& a, const AccountedJob& b) {
    return std::tuple(a.eligible, number_of(a.id)) < std::tuple(b.eligible, number_of(b.id));
  });
  dump_.report.kept = dump_.jobs.size();
  return std::move(dump_);
}

}  // namespace schedmate::trace
