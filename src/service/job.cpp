// SPDX-License-Identifier: Apache-2.0
#include "service/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "base/words.hpp"
#include "log/failure/log_fault.hpp"
#include "secrets/outgoing.hpp"
#include "service/job_advice.hpp"
#include "service/log_summary.hpp"
#include "slurm/job_log.hpp"
#include "trace/hostlist.hpp"
#include "trace/values.hpp"

namespace schedmate::service {
namespace {

namespace fs = std::filesystem;

/// What was asked for: an id, a log or a folder; each leads to the others.
struct Wanted {
  std::string id, log, folder;
};

Wanted read_subject(const std::string& subject) {
  std::error_code error;
  const auto absolute = [&] { return fs::absolute(subject, error).lexically_normal().string(); };
  if (fs::is_directory(subject, error)) {
    std::string folder = absolute();
    if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    return {"", "", std::move(folder)};
  }
  if (fs::exists(fs::symlink_status(subject, error)))
    return {slurm::id_in_log_name(subject), absolute(), ""};
  return {subject, "", ""};
}

/// Takes over what `from` knows and `job` does not.
void complete(slurm::ScheduledJob& job, const slurm::ScheduledJob& from) {
  JobRecord& ours = job.record;
  const JobRecord& theirs = from.record;
  for (const auto member :
       {&JobRecord::user, &JobRecord::vc, &JobRecord::root, &JobRecord::command, &JobRecord::entry,
        &JobRecord::gpu_type, &JobRecord::name, &JobRecord::account, &JobRecord::qos,
        &JobRecord::cluster, &JobRecord::log, &JobRecord::group})
    if ((ours.*member).empty()) ours.*member = theirs.*member;
  if (ours.gpus == 0) ours.gpus = theirs.gpus;
  if (ours.cpus == 0) ours.cpus = theirs.cpus;
  ours.nodes = std::max(ours.nodes, theirs.nodes);
  if (!ours.memory_mib) ours.memory_mib = theirs.memory_mib;
  if (!ours.time_limit) ours.time_limit = theirs.time_limit;
  if (seconds_of(ours.submit) == 0) ours.submit = theirs.submit;
  if (!ours.outcome)
    ours.outcome = theirs.outcome;
  else if (theirs.outcome) {
    Outcome& end = *ours.outcome;
    fill_use(*theirs.outcome, end);
    if (end.attempts.empty()) end.attempts = theirs.outcome->attempts;
    if (!end.start) end.start = theirs.outcome->start;
    if (!end.end) end.end = theirs.outcome->end;
  }
  if (job.attempts.empty()) job.attempts = from.attempts;
  if (job.word.empty()) job.word = from.word;
  if (job.reason.empty()) job.reason = from.reason;
}

/// Asks one after the other; what was not there is kept for the answer.
class Asking {
 public:
  Asking(const settings::Session& session, std::string subject)
      : session_(session), subject_(std::move(subject)), wanted_(read_subject(subject_)) {}

  Result<JobView> run() {
    view_.now = session_.clock.wall();
    if (auto ok = ask_history(); !ok) return tl::unexpected(ok.error());
    if (wanted_.id.empty() && !wanted_.folder.empty()) {
      wanted_.log = slurm::newest_log_in(wanted_.folder);
      wanted_.id = slurm::id_in_log_name(wanted_.log);
    }
    ask_slurm();
    settle_state();
    if (auto ok = find_log(); !ok) return tl::unexpected(ok.error());
    if (view_.job.record.id.empty() && view_.log.empty()) return nothing();
    if (auto ok = read_log(); !ok) return tl::unexpected(ok.error());
    if (auto ok = look_back(); !ok) return tl::unexpected(ok.error());
    return std::move(view_);
  }

 private:
  void note(std::string name, bool gave, std::string says) {
    if (says.starts_with(name + ": ")) says.erase(0, name.size() + 2);
    view_.sources.push_back({std::move(name), gave, std::move(says)});
  }

  tl::unexpected<Error> nothing() const {
    std::vector<std::string> asked;
    for (const JobSourceState& each : view_.sources)
      asked.push_back(fmt::format("{}: {}", each.name, each.says));
    // Without the history nobody knows that there is no such job.
    const auto& fault = session_.state_fault;
    return fail(
        fault ? fault->code : ErrorCode::not_found,
        fmt::format("{}: {} ({})", printable(subject_),
                    fault ? "not found" : "no such job, log or directory", fmt::join(asked, "; ")));
  }

  /// A log called slurm-17.out may be of another cluster's job 17: the folder has to agree.
  [[nodiscard]] bool fits(const JobRecord& record) const {
    if (wanted_.log.empty()) return true;
    return record.log == wanted_.log || record.root == fs::path(wanted_.log).parent_path();
  }

  Result<void> ask_history() {
    auto found = find_history(session_);
    if (!found) {
      note("history", false, found.error().message);
      return {};
    }
    if (!*found) return note("history", false, "there is none yet"), Result<void>();
    history_ = std::move(**found);
    if (history_->role != Role::cluster_operator)
      return note("history", false, "belongs to another user"), Result<void>();
    auto record = wanted_.folder.empty() ? history_->store->get(wanted_.id) : newest_in_folder();
    if (wanted_.id.empty() && wanted_.folder.empty()) record = std::optional<JobRecord>();
    if (!record) return tl::unexpected(record.error());
    if (!*record || !fits(**record)) return note("history", false, "no such job"), Result<void>();
    note("history", true, "job " + printable((*record)->id));
    view_.job.record = **std::move(record);
    if (view_.job.record.outcome) view_.job.attempts = view_.job.record.outcome->attempts;
    if (wanted_.id.empty()) wanted_.id = view_.job.record.id;
    return {};
  }

  Result<std::optional<JobRecord>> newest_in_folder() {
    std::optional<JobRecord> newest;
    const auto keep = [&](JobRecord record) {
      newest = std::move(record);
      return false;
    };
    const auto done = history_->store->each({.root = wanted_.folder, .limit = 1}, keep);
    if (!done) return tl::unexpected(done.error());
    return newest;
  }

  void ask_slurm() {
    if (!slurm::is_slurm_id(wanted_.id)) {
      if (!wanted_.log.empty() || !wanted_.folder.empty()) return;
      return note("sacct, scontrol", false, "not asked: this is no id of Slurm");
    }
    auto accounted = ask_sacct(session_, {"--jobs", wanted_.id});
    if (!accounted) {
      note("sacct", false, accounted.error().message);
    } else {
      const auto job = std::ranges::find_if(*accounted, [&](const slurm::ScheduledJob& each) {
        return each.record.id == wanted_.id;
      });
      const auto task = std::ranges::find_if(*accounted, [&](const slurm::ScheduledJob& each) {
        return each.record.id.starts_with(wanted_.id + "_");
      });
      if (job == accounted->end() && task != accounted->end())
        note("sacct", false,
             fmt::format("an array; ask for one task of it, as {}", printable(task->record.id)));
      else
        take("sacct", job == accounted->end() ? nullptr : &*job);
    }
    const auto shown = ask_scontrol(session_, wanted_.id);
    if (!shown)
      note("scontrol", false, shown.error().message);
    else
      take("scontrol", &*shown);
  }

  void take(const std::string& name, const slurm::ScheduledJob* job) {
    if (job == nullptr) return note(name, false, "no such job");
    if (!fits(job->record)) return note(name, false, "has another job of this number");
    note(name, true, job->word);
    if (auto words = unread_words({job, 1}); !words.empty())
      view_.notes.push_back(fmt::format("{}: {}", name, words));
    const bool known = !view_.job.record.id.empty();
    if (!known) view_.job.record.id = job->record.id;
    complete(view_.job, *job);
    // What it is doing now the controller knows best, and it is asked last.
    view_.job.word = job->word;
    view_.job.reason = job->reason;
    view_.job.planned_start = job->planned_start;
    if (job->attempts.size() > view_.job.attempts.size()) view_.job.attempts = job->attempts;
  }

  void settle_state() {
    slurm::ScheduledJob& job = view_.job;
    if (job.record.outcome) {
      const Outcome& outcome = *job.record.outcome;
      view_.state = end_word(job.record);
      view_.started = outcome.start;
      view_.ended = outcome.end;
      view_.ran = outcome.duration;
      return;
    }
    if (job.word.empty()) return;
    const trace::RunState life = trace::run_state(job.word);
    view_.state = life == trace::RunState::waiting   ? "pending"
                  : life == trace::RunState::running ? "running"
                                                     : lower_case(job.word);
    if (!job.attempts.empty()) view_.started = job.attempts.back().start;
    if (view_.is_running() && view_.started && view_.now >= *view_.started)
      view_.ran = view_.now - *view_.started;
  }

  Result<void> find_log() {
    const std::string& id = view_.job.record.id;
    view_.log = wanted_.log;
    if (view_.log.empty() && history_ && !id.empty()) {
      const auto kept = log_of_job(*history_->store, id);
      if (!kept) return tl::unexpected(kept.error());
      if (*kept && slurm::written_at((*kept)->path)) view_.log = (*kept)->path;
    }
    if (view_.log.empty() && !id.empty()) view_.log = slurm::find_job_log(view_.job);
    if (view_.log.empty() && !wanted_.folder.empty())
      view_.log = slurm::newest_log_in(wanted_.folder);
    if (view_.log.empty())
      return note("log", false, "not found by its name (schedmate job LOG)"), Result<void>();
    view_.log_written = slurm::written_at(view_.log);
    return {};
  }

  [[nodiscard]] JobContext context() const {
    const slurm::ScheduledJob& job = view_.job;
    JobContext context;
    context.job_id = job.record.id;
    context.user = job.record.user;
    if (job.attempts.empty()) return context;
    const Attempt& last = job.attempts.back();
    context.state = last.word;
    context.exit_code = last.exit_code;
    if (last.start) context.start = fmt::format("{}", seconds_of(*last.start));
    if (last.end) context.end = fmt::format("{}", seconds_of(*last.end));
    if (auto hosts = trace::expand_hosts(last.nodes)) context.nodes = *std::move(hosts);
    return context;
  }

  /// A log that cannot be read takes nothing from what the others say; where nobody says anything,
  /// it is the error that `diagnose` has with it.
  Result<void> read_log() {
    if (view_.log.empty()) return {};
    const bool is_alone = view_.job.record.id.empty();
    const std::string rules = session_.settings.text("rules");
    auto progress = schedmate::track(view_.log, {rules});
    if (!progress) {
      if (is_alone) return tl::unexpected(progress.error());
      return note("log", false, progress.error().message), Result<void>();
    }
    note("log", true, view_.log);
    secrets::make_safe(progress->evidence);
    if (progress->lines == 0 && progress->unread.empty())
      if (const auto fault = failure::fault_of_log({view_.log, {}}); fault && !fault->empty())
        progress->unread.push_back(fmt::format("{}: {}", view_.log, *fault));
    for (const std::string& each : progress->unread)
      view_.notes.push_back(secrets::safe_line(each));
    view_.progress = *std::move(progress);
    if (view_.is_running() || view_.state == "pending" || view_.state == "completed") return {};
    return explain_end(rules, is_alone);
  }

  Result<void> explain_end(const std::string& rules, bool is_alone) {
    DiagnoseInput input;
    input.paths = {view_.log};
    input.rules = rules;
    input.clean = secrets::safe_line;
    input.job = context();
    auto made = schedmate::diagnose(input);
    if (!made) return view_.notes.push_back("diagnosis: " + made.error().message), Result<void>();
    if (is_alone && !made->judged && view_.progress->lines == 0)
      return fail(ErrorCode::invalid, made->reason);
    if (history_) {
      const auto asked = consult_history(session_, {*history_->store, history_->role},
                                         {*input.job, view_.progress->step}, *made);
      if (!asked) view_.notes.push_back("history: " + asked.error().message);
    }
    view_.diagnosis = *std::move(made);
    return {};
  }

  Result<void> look_back() {
    const JobRecord& record = view_.job.record;
    view_.use = use_of(record);
    if (history_) {
      auto earlier = earlier_runs(*history_->store, record);
      if (!earlier) return tl::unexpected(earlier.error());
      view_.earlier = *std::move(earlier);
      const auto advice = advice_on(session_, record);
      view_.expected = expected_end(view_, advice);
      if (advice) view_.time_limit = advice->answer.time_limit;
    } else {
      view_.expected = expected_end(view_, std::nullopt);
    }
    view_.sizes = size_advice(record, view_.use);
    return {};
  }

  const settings::Session& session_;
  std::string subject_;
  Wanted wanted_;
  std::optional<HistoryAccess> history_;
  JobView view_;
};

}  // namespace

Result<JobView> look_at_job(const settings::Session& session, const std::string& subject) {
  return Asking(session, subject).run();
}

}  // namespace schedmate::service
