// SPDX-License-Identifier: Apache-2.0
#include "service/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/slurm_time.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "process/run_tool.hpp"
#include "service/accounted_jobs.hpp"
#include "service/advisor_state.hpp"
#include "service/report_sums.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

constexpr Seconds day{86'400};
/// A job that ended in the period was submitted at most this long before it.
constexpr Seconds longest_life = 90 * day;
constexpr std::string_view file_mark = "sacct:";

Result<SimTime> read_since(const std::string& text, SimTime now) {
  if (text == "all") return SimTime();
  if (text.ends_with('w'))
    if (const auto weeks = parse_number<std::uint16_t>(text.substr(0, text.size() - 1)))
      return now - *weeks * 7 * day;
  if (const auto length = parse_duration(text);
      length && !text.contains(':') && text.find_first_not_of("0123456789") < text.size() &&
      !text.contains('-'))
    return now - *length;
  if (const auto date = trace::parse_date(text.size() == 10 ? text + "T00:00:00" : text))
    return at(*date);
  return fail(ErrorCode::unsupported,
              fmt::format("report: --since {}: give a length of time (7d, 12h, 2w), a date "
                          "(2026-11-01) or all",
                          printable(text)));
}

Result<void> check_word(std::string_view flag, std::string_view word,
                        std::span<const std::string_view> words) {
  if (word.empty() || std::ranges::find(words, word) != words.end()) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("report: {}: {}", flag, unknown_name("name", word, words)));
}

ReportJob report_job(JobRecord record) {
  ReportJob job{.record = {},
                .use = use_of(record),
                .state = end_word(record),
                .cause = cause_of(record),
                .end = {},
                .waited = {}};
  Outcome& outcome = *record.outcome;
  job.end = outcome.end.value_or(outcome.start.value_or(record.submit) + outcome.duration);
  const auto start = outcome.attempts.empty() ? outcome.start : outcome.attempts.front().start;
  if (start && *start >= record.submit) job.waited = *start - record.submit;
  // The class stays where it is needed: whether a node may be blamed.
  outcome.log_summary = failure_class_of(record) == "user_script" ? "user_script" : "";
  outcome.progress.clear();
  record.facts_json.clear();
  record.text.clear();
  job.record = std::move(record);
  return job;
}

/// Jobs of the period, wherever they come from.
class Gathering {
 public:
  Gathering(const settings::Session& session, const ReportQuestion& question)
      : session_(session), question_(question) {
    report_.until = session.clock.wall();
  }

  Result<UsageReport> run() {
    const bool from_file = question_.from.starts_with(file_mark);
    if (!from_file) {
      const auto since =
          read_since(question_.since.empty() ? "7d" : question_.since, report_.until);
      if (!since) return tl::unexpected(since.error());
      report_.since = *since;
    }
    auto done = from_file                   ? read_dump()
                : question_.from == "sacct" ? ask_program()
                                            : read_history();
    if (done && question_.from.empty() && report_.jobs.empty()) done = fall_back();
    if (!done) return tl::unexpected(done.error());
    return std::move(report_);
  }

 private:
  void take(JobRecord record) {
    if (!record.outcome) return;
    if (!question_.user.empty() && record.user != question_.user) return;
    ReportJob job = report_job(std::move(record));
    if (job.end < report_.since) return;
    if (!question_.state.empty() && job.state != question_.state) return;
    report_.jobs.push_back(std::move(job));
  }

  void take_all(std::vector<slurm::ScheduledJob> jobs) {
    if (auto words = unread_words(jobs); !words.empty()) report_.notes.push_back(std::move(words));
    for (slurm::ScheduledJob& job : jobs) take(std::move(job.record));
  }

  Result<void> read_history() {
    report_.source = "history";
    auto history = find_history(session_);
    if (!history) return tl::unexpected(history.error());
    if (!*history) return {};
    has_history_ = true;
    if ((*history)->role != Role::cluster_operator)
      return fail(ErrorCode::refused,
                  fmt::format("report: {} belongs to another user; only its owner sees the jobs of "
                              "all users (report --from sacct asks Slurm)",
                              session_.state_dir()));
    JobFilter filter;
    filter.finished = true;
    if (!question_.user.empty()) filter.user = question_.user;
    if (seconds_of(report_.since) > 0) filter.since = report_.since - longest_life;
    filter.limit = std::numeric_limits<std::size_t>::max();
    return (*history)->store->each(filter, [&](JobRecord record) {
      take(std::move(record));
      return true;
    });
  }

  Result<void> read_dump() {
    const std::string path = question_.from.substr(file_mark.size());
    report_.source = path;
    const auto dump =
        read_accounting(path, {.strict = session_.settings.flag("strict"), .lenient = true});
    if (!dump) return tl::unexpected(dump.error());
    for (const std::string& message : dump->report.messages) report_.notes.push_back(message);
    report_.until = dump->last;
    const auto since = read_since(question_.since.empty() ? "all" : question_.since, report_.until);
    if (!since) return tl::unexpected(since.error());
    report_.since = *since;
    take_all(accounted_jobs(*dump));
    return {};
  }

  Result<void> ask_program() {
    report_.source = "sacct";
    // sacct reads the date in the zone that run_tool() sets.
    const auto days = std::chrono::floor<std::chrono::seconds>(std::chrono::sys_seconds(
        std::chrono::seconds(std::max<std::int64_t>(0, seconds_of(report_.since)))));
    std::vector<std::string> flags = {"--starttime", iso_date(days)};
    if (question_.user.empty())
      flags.emplace_back("--allusers");
    else
      flags.insert(flags.end(), {"--user", question_.user});
    auto jobs = ask_sacct(session_, flags);
    if (!jobs) return tl::unexpected(jobs.error());
    take_all(*std::move(jobs));
    return {};
  }

  static std::string iso_date(std::chrono::sys_seconds time) {
    const auto midnight = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(midnight);
    const std::chrono::hh_mm_ss clock(time - midnight);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  }

  /// The history has nothing of the period. That Slurm does not answer is an error where there is
  /// no history either.
  Result<void> fall_back() {
    std::string why = "sacct is not installed";
    if (!process::find_tool(session_.environment, "sacct").empty()) {
      auto asked = ask_program();
      if (asked) return {};
      why = asked.error().message;
    }
    constexpr std::string_view mend =
        "schedmate history import sacct:FILE, or report --from sacct:FILE";
    if (!has_history_)
      return fail(ErrorCode::unavailable,
                  fmt::format("report: there is no history yet, and {} ({})", why, mend));
    report_.source = "history";
    report_.notes.push_back(
        fmt::format("the history has no job that ended in this period, and {} ({})", why, mend));
    return {};
  }

  const settings::Session& session_;
  const ReportQuestion& question_;
  UsageReport report_;
  bool has_history_ = false;
};

}  // namespace

Result<UsageReport> report_usage(const settings::Session& session, const ReportQuestion& question) {
  if (auto ok = check_word("--by", question.by, report_groupings()); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = check_word("--sort", question.sort, report_sortings()); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = check_word("--state", question.state, end_words()); !ok)
    return tl::unexpected(ok.error());
  const bool known_source = question.from.empty() || question.from == "sacct" ||
                            question.from == "history" || question.from.starts_with(file_mark);
  if (!known_source)
    return fail(ErrorCode::unsupported,
                fmt::format("report: --from {}: must be history, sacct or sacct:FILE",
                            printable(question.from)));
  auto report = Gathering(session, question).run();
  if (!report) return report;
  report->by = question.by;
  add_sums(question, *report);
  return report;
}

}  // namespace schedmate::service
