// SPDX-License-Identifier: Apache-2.0

/// `scontrol show job`: "Key=Value Key=Value" over several lines.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "advisor/command_flags.hpp"
#include "base/text.hpp"
#include "service/accounted_jobs.hpp"
#include "service/redaction.hpp"
#include "service/run_tool.hpp"
#include "trace/jobstats_summary.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t longest_shown_value = 65'536;

/// Keys whose value may hold blanks and so goes on to the end of its line.
bool is_free_text(std::string_view key) {
  constexpr std::array<std::string_view, 11> keys = {
      "JobName", "Command", "WorkDir",      "StdErr",     "StdIn",        "StdOut",
      "Comment", "Extra",   "AdminComment", "SubmitLine", "SystemComment"};
  return std::ranges::find(keys, key) != keys.end();
}

/// The first of the blocks: those after it are other tasks of the same array.
Values values_in(std::string_view text) {
  Values values;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() && !values.empty()) break;
    while (!line.empty()) {
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) break;
      const std::string_view key = line.substr(0, equals);
      std::size_t end = line.size();
      if (!is_free_text(key)) end = std::min(line.find(' ', equals), line.size());
      const std::string_view value =
          line.substr(equals + 1, end - equals - 1).substr(0, longest_shown_value);
      if (value != "(null)" && value != "N/A") values.emplace(key, value);
      line = trim(line.substr(end));
    }
  }
  return values;
}

class ShownJob {
 public:
  explicit ShownJob(Values values) : values_(std::move(values)) {}

  [[nodiscard]] ScheduledJob read() const {
    ScheduledJob job;
    job.word = text("JobState");
    job.reason = text("Reason") == "None" ? "" : text("Reason");
    job.record = request();
    Attempt attempt{.start = when("StartTime"),
                    .end = std::nullopt,
                    .state = trace::parse_state(job.word),
                    .word = job.word,
                    .exit_code = text("ExitCode"),
                    .nodes = text("NodeList")};
    const trace::RunState life = trace::run_state(job.word);
    if (life == trace::RunState::waiting) job.planned_start = attempt.start;
    if (life == trace::RunState::waiting || !attempt.start) return job;
    if (life == trace::RunState::ended) {
      attempt.end = when("EndTime");
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
    const auto found = values_.find(key);
    return found == values_.end() ? "" : found->second;
  }
  /// "ann" of "ann(1000)".
  [[nodiscard]] std::string name(std::string_view key) const {
    const std::string value = text(key);
    return value.substr(0, value.find('('));
  }
  [[nodiscard]] std::optional<SimTime> when(std::string_view key) const {
    const auto seconds = trace::parse_time(text(key));
    return seconds ? std::optional(at(*seconds)) : std::nullopt;
  }
  [[nodiscard]] std::int64_t whole(std::string_view key) const {
    const std::string value = text(key);
    return parse_number<std::int64_t>(value.substr(0, value.find('-'))).value_or(0);
  }
  /// "12_3" of an array.
  [[nodiscard]] std::string id() const {
    const std::string array = text("ArrayJobId");
    const std::string task = text("ArrayTaskId");
    return is_slurm_id(array + "_" + task) ? array + "_" + task : text("JobId");
  }

  [[nodiscard]] JobRecord request() const {
    JobRecord record;
    record.id = id();
    record.user = name("UserId");
    record.group = name("GroupId");
    record.vc = text("Partition");
    record.submit = when("SubmitTime").value_or(SimTime());
    record.root = text("WorkDir");
    record.workdir = ".";
    const std::string line = text("SubmitLine");
    record.command = redacted(line.empty() ? text("Command") : line);
    record.entry =
        advisor::read_command_flags(record.command, advisor::FlagRules::built_in(), record.root)
            .entry;
    std::string tres = text("AllocTRES");
    if (tres.empty()) tres = text("TRES");
    if (tres.empty()) tres = text("ReqTRES");
    record.gpus = trace::gpus_of_tres(tres).value_or(0);
    record.gpu_type = trace::gpu_types_of_tres(tres);
    record.nodes = std::max<std::int64_t>(1, whole("NumNodes"));
    record.cpus = whole("NumCPUs");
    record.memory_mib = trace::parse_memory_mib(trace::tres_value(tres, "mem"), 1);
    if (const auto limit = trace::parse_elapsed(text("TimeLimit")))
      record.time_limit = Seconds(*limit);
    record.name = redacted(text("JobName"));
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
    const auto ran = trace::parse_elapsed(text("RunTime"));
    made.duration = ran ? Seconds(*ran) : *attempt.end - *attempt.start;
    made.attempts = {attempt};
    made.cpu_time = use.cpu_time;
    made.memory_mib = use.memory_mib;
    made.gpu_util_pct = use.gpu_util_pct;
    made.gpu_memory_mib = use.gpu_memory_mib;
    made.gpu_memory_total_mib = use.gpu_memory_total_mib;
    made.node_use = std::move(use.nodes);
    return made;
  }

  Values values_;
};

}  // namespace

Result<ScheduledJob> read_shown_job(std::string_view text) {
  Values values = values_in(text);
  if (!values.contains("JobId") || !values.contains("JobState"))
    return fail(ErrorCode::bad_reply, "scontrol: its answer has no JobId or no JobState");
  return ShownJob(std::move(values)).read();
}

Result<ScheduledJob> ask_scontrol(const settings::Session& session, const std::string& id) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20U;
  const auto text = run_tool(session.environment, {.words = {"scontrol", "show", "job", id},
                                                   .deadline = std::chrono::seconds(5),
                                                   .most_bytes = most_bytes});
  if (!text) return tl::unexpected(text.error());
  return read_shown_job(*text);
}

}  // namespace schedmate::service
