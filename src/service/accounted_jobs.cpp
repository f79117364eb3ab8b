// SPDX-License-Identifier: Apache-2.0
#include "service/accounted_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "advisor/command_flags.hpp"
#include "process/run_tool.hpp"
#include "secrets/outgoing.hpp"
#include "slurm/shown.hpp"
#include "trace/jobstats_summary.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

/// "17" of the attempt "17#2".
std::string_view job_of_attempt(std::string_view id) { return id.substr(0, id.find('#')); }

Attempt attempt_of(const AccountedJob& job) {
  return {.start = job.start,
          .end = job.running ? std::nullopt : std::optional(job.end),
          .state = trace::parse_state(job.state),
          .word = job.state,
          .exit_code = job.exit_code,
          .nodes = job.node_list};
}

JobRecord request_of(const AccountedJob& job) {
  JobRecord record;
  record.id = job_of_attempt(job.id);
  record.user = job.user;
  record.group = job.group;
  record.vc = job.partition;
  record.submit = job.submit;
  record.root = secrets::redacted(job.work_dir);
  record.workdir = ".";
  record.command = secrets::redacted(job.submit_line.empty() ? job.name : job.submit_line);
  record.gpus = job.gpus;
  record.nodes = std::max<std::int64_t>(1, std::ssize(job.nodes));
  record.gpu_type = job.gpu_type;
  if (job.limit_kind == LimitKind::given) record.time_limit = job.limit;
  record.fields["gpus"] = fmt::format("{}", job.gpus);
  if (!job.gpu_type.empty()) record.fields["gpu_type"] = job.gpu_type;
  record.entry =
      advisor::read_command_flags(record.command, advisor::FlagRules::built_in(), record.root)
          .entry;
  record.name = secrets::redacted(job.name);
  record.account = job.account;
  record.qos = job.qos;
  record.cluster = job.cluster;
  record.log = job.log;
  record.cpus = job.cpus;
  record.memory_mib = job.memory_mib;
  return record;
}

/// Whether another attempt follows, whose row is not in the dump.
bool goes_on(const AccountedJob& job) {
  return job.running || job.state == "REQUEUED" || job.state == "REQUEUE_HOLD";
}

Outcome outcome_of(std::span<const AccountedJob* const> of_job, std::vector<Attempt> attempts) {
  const AccountedJob& last = *of_job.back();
  Outcome outcome;
  outcome.state = trace::parse_state(last.state);
  outcome.start = last.start;
  outcome.end = last.end;
  outcome.duration = last.elapsed.value_or(last.end - last.start);
  outcome.gpu_util_pct = last.use.gpu_util_pct;
  outcome.gpu_memory_mib = last.use.gpu_memory_mib;
  outcome.cpu_time = last.use.cpu_time;
  outcome.memory_mib = last.use.memory_mib;
  outcome.gpu_memory_total_mib = last.use.gpu_memory_total_mib;
  outcome.node_use = last.use.nodes;
  for (const AccountedJob* const job : of_job)
    if (job->use.energy_j) outcome.energy_j = outcome.energy_j.value_or(0) + *job->use.energy_j;
  outcome.attempts = std::move(attempts);
  return outcome;
}

/// A job as `scontrol show job` prints it.
class ShownJob {
 public:
  explicit ShownJob(const slurm::Shown& shown) : shown_(shown) {}

  [[nodiscard]] slurm::ScheduledJob read() const {
    slurm::ScheduledJob job;
    job.word = text("JobState");
    job.reason = text("Reason") == "None" ? "" : text("Reason");
    job.record = request();
    Attempt attempt{.start = shown_.when("StartTime"),
                    .end = std::nullopt,
                    .state = trace::parse_state(job.word),
                    .word = job.word,
                    .exit_code = text("ExitCode"),
                    .nodes = text("NodeList")};
    const trace::RunState life = trace::run_state(job.word);
    if (life == trace::RunState::waiting) job.planned_start = attempt.start;
    if (life == trace::RunState::waiting || !attempt.start) return job;
    if (life == trace::RunState::ended) {
      attempt.end = shown_.when("EndTime");
      if (attempt.end && *attempt.end >= *attempt.start) {
        AccountedUse use;
        job.unread = trace::read_summary(text("AdminComment"), use);
        job.record.outcome = outcome(attempt, std::move(use));
      }
    }
    job.attempts.push_back(std::move(attempt));
    return job;
  }

 private:
  [[nodiscard]] std::string text(std::string_view key) const {
    return std::string(shown_.text(key));
  }
  /// "ann" of "ann(1000)".
  [[nodiscard]] std::string name(std::string_view key) const {
    const std::string value = text(key);
    return value.substr(0, value.find('('));
  }
  /// "12_3" of an array.
  [[nodiscard]] std::string id() const {
    const std::string array = text("ArrayJobId");
    const std::string task = text("ArrayTaskId");
    return slurm::is_slurm_id(array + "_" + task) ? array + "_" + task : text("JobId");
  }

  [[nodiscard]] JobRecord request() const {
    JobRecord record;
    record.id = id();
    record.user = name("UserId");
    record.group = name("GroupId");
    record.vc = text("Partition");
    record.submit = shown_.when("SubmitTime").value_or(SimTime());
    record.root = text("WorkDir");
    record.workdir = ".";
    const std::string line = text("SubmitLine");
    record.command = secrets::redacted(line.empty() ? text("Command") : line);
    record.entry =
        advisor::read_command_flags(record.command, advisor::FlagRules::built_in(), record.root)
            .entry;
    std::string tres = text("AllocTRES");
    if (tres.empty()) tres = text("TRES");
    if (tres.empty()) tres = text("ReqTRES");
    record.gpus = trace::gpus_of_tres(tres).value_or(0);
    record.gpu_type = trace::gpu_types_of_tres(tres);
    record.nodes = std::max<std::int64_t>(1, shown_.whole("NumNodes"));
    record.cpus = shown_.whole("NumCPUs");
    record.memory_mib = trace::parse_memory_mib(trace::tres_value(tres, "mem"), 1);
    record.time_limit = shown_.duration("TimeLimit");
    record.name = secrets::redacted(text("JobName"));
    record.account = text("Account");
    record.qos = text("QOS");
    record.log = text("StdOut");
    return record;
  }

  [[nodiscard]] Outcome outcome(const Attempt& attempt, AccountedUse use) const {
    Outcome made;
    made.state = attempt.state;
    made.start = attempt.start;
    made.end = attempt.end;
    made.duration = shown_.duration("RunTime").value_or(*attempt.end - *attempt.start);
    made.attempts = {attempt};
    made.cpu_time = use.cpu_time;
    made.memory_mib = use.memory_mib;
    made.gpu_util_pct = use.gpu_util_pct;
    made.gpu_memory_mib = use.gpu_memory_mib;
    made.gpu_memory_total_mib = use.gpu_memory_total_mib;
    made.node_use = std::move(use.nodes);
    return made;
  }

  const slurm::Shown& shown_;
};

}  // namespace

std::vector<slurm::ScheduledJob> accounted_jobs(const AccountingDump& dump) {
  std::vector<slurm::ScheduledJob> jobs;
  std::vector<std::vector<const AccountedJob*>> attempts;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const AccountedJob& job : dump.jobs) {
    const auto [place, is_new] = places.emplace(job_of_attempt(job.id), attempts.size());
    if (is_new) attempts.emplace_back();
    attempts[place->second].push_back(&job);
  }
  for (auto& of_job : attempts) {
    std::ranges::stable_sort(of_job, {}, &AccountedJob::start);
    const AccountedJob& last = *of_job.back();
    slurm::ScheduledJob made{
        .record = request_of(last), .attempts = {}, .word = last.state, .reason = last.reason};
    made.unread = last.unread;
    made.record.submit = of_job.front()->submit;
    for (const AccountedJob* const job : of_job) made.attempts.push_back(attempt_of(*job));
    if (!goes_on(last)) made.record.outcome = outcome_of(of_job, made.attempts);
    jobs.push_back(std::move(made));
  }
  return jobs;
}

std::string unread_words(std::span<const slurm::ScheduledJob> jobs) {
  const auto bad = [](const slurm::ScheduledJob& job) { return !job.unread.empty(); };
  const auto first = std::ranges::find_if(jobs, bad);
  if (first == jobs.end()) return {};
  const auto others = std::ranges::count_if(jobs, bad) - 1;
  return fmt::format("jobstats' summary in AdminComment, job {}{}: {}", first->record.id,
                     others == 0 ? "" : fmt::format(" and {} more", others), first->unread);
}

Result<std::vector<slurm::ScheduledJob>> ask_sacct(const settings::Session& session,
                                                   const std::vector<std::string>& flags) {
  process::ToolCall call{
      {"sacct", "--duplicates", "--parsable2", "--format", std::string(accounting_fields())}};
  call.words.insert(call.words.end(), flags.begin(), flags.end());
  const auto text = process::run_tool(session.environment, call);
  if (!text) return tl::unexpected(text.error());
  const auto dump = read_accounting_text(*text, "sacct", {.strict = false, .lenient = true});
  if (!dump) return tl::unexpected(dump.error());
  return accounted_jobs(*dump);
}

Result<slurm::ScheduledJob> read_shown_job(std::string_view text) {
  const std::vector<slurm::ShownRecord> records = slurm::read_shown(text);
  // Those after it are other tasks of the same array.
  const auto first = std::ranges::find(records, "JobId", &slurm::ShownRecord::kind);
  if (first == records.end() || !first->values.has("JobState"))
    return fail(ErrorCode::bad_reply, "scontrol: its answer has no JobId or no JobState");
  return ShownJob(first->values).read();
}

Result<slurm::ScheduledJob> ask_scontrol(const settings::Session& session, const std::string& id) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20U;
  const auto text =
      process::run_tool(session.environment, {.words = {"scontrol", "show", "job", id},
                                              .deadline = std::chrono::seconds(5),
                                              .most_bytes = most_bytes});
  if (!text) return tl::unexpected(text.error());
  return read_shown_job(*text);
}

}  // namespace schedmate::service
