// SPDX-License-Identifier: Apache-2.0

/// `schedmate history ACTION`: the store of past jobs.

#include "apps/history_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "advisor/fields.hpp"
#include "advisor/record_json.hpp"
#include "apps/command.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "service/history.hpp"

namespace schedmate {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct HistoryFlags {
  std::string action, subject;
  service::JobRequest job;
  service::OutcomeRequest outcome;
  std::string job_file, user, branch, vc, facts;
  std::int64_t submit_s = -1;
  std::int64_t limit = 20;
};

void print_document(const Document& document) { fmt::print("{}\n", indented(document)); }

Result<void> add(const CommandCall& call, const HistoryFlags& flags) {
  const auto record =
      service::add_job(call.session, {flags.subject, flags.user, flags.branch, flags.vc, flags.job,
                                      flags.facts, flags.submit_s, flags.outcome});
  if (!record) return tl::unexpected(record.error());
  if (call.json)
    print_document(advisor::record_document(*record));
  else
    fmt::print("added {}\n", printable(record->id));
  return {};
}

/// How the advice came out, beside the outcome.
std::string finish_text(const JobRecord& record) {
  const auto score = advisor::score_advice(record);
  return fmt::format(
      "{}: {} after {}{}\n", printable(record.id), advisor::state_word(record.outcome->state),
      in_words(record.outcome->duration),
      !score ? std::string()
             : fmt::format(
                   "; advised {}, {} the interval",
                   in_words(Seconds(std::llround(
                       (record.advice->length ? record.advice->length->p50 : record.advice->p50)
                           .count()))),
                   score->inside ? "inside" : "outside"));
}

Result<void> finish(const CommandCall& call, const HistoryFlags& flags) {
  const auto record = service::finish_job(
      call.session, {flags.subject, flags.outcome, flags.job.log, flags.job_file});
  if (!record) return tl::unexpected(record.error());
  if (call.json)
    print_document(service::finish_document(*record));
  else
    fmt::print("{}", finish_text(*record));
  return {};
}

Result<void> import(const CommandCall& call, const HistoryFlags& flags) {
  const auto imported = service::import_jobs(call.session, flags.subject);
  if (!imported) return tl::unexpected(imported.error());
  if (call.json) {
    print_document(service::import_document(*imported));
    return {};
  }
  fmt::print("{} jobs from {} rows\n", imported->jobs, imported->rows);
  for (const auto& [reason, rows] : imported->dropped)
    fmt::print("  dropped {}: {}\n", rows, printable(reason));
  return {};
}

std::vector<std::string> table_row(const JobRecord& record) {
  const bool ended = record.outcome.has_value();
  return {printable(record.id),
          printable(record.user),
          fmt::format("{}", seconds_of(record.submit)),
          fmt::format("{}", record.gpus),
          ended ? advisor::state_word(record.outcome->state) : "-",
          ended ? in_words(record.outcome->duration) : "-",
          printable(advisor::field(record.fields, "model_name")),
          printable(record.command.substr(0, 60))};
}

Result<void> list(const CommandCall& call, const HistoryFlags& flags) {
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(0, flags.limit));
  const auto records = service::list_jobs(call.session, flags.user, limit);
  if (!records) return tl::unexpected(records.error());
  if (call.json) {
    print_document(service::list_document(*records));
    return {};
  }
  Rows rows{{"job", "user", "submit_s", "GPUs", "end", "ran", "model", "command"}};
  for (const JobRecord& record : *records) rows.push_back(table_row(record));
  fmt::print("{}", aligned(rows));
  return {};
}

Result<void> show(const CommandCall& call, const HistoryFlags& flags) {
  const auto record = service::show_job(call.session, flags.subject);
  if (!record) return tl::unexpected(record.error());
  print_document(advisor::record_document(*record));
  return {};
}

Result<void> calibration(const CommandCall& call, const HistoryFlags& /*flags*/) {
  const auto rows = service::calibration(call.session);
  if (!rows) return tl::unexpected(rows.error());
  if (call.json) {
    print_document(service::calibration_document(*rows));
    return {};
  }
  if (rows->front().jobs == 0) {
    fmt::print(
        "no advice has met its outcome yet: record submissions with `advise --record --job-id "
        "ID`,\n"
        "then their ends with `history finish ID`; jobs count that completed and were told a "
        "length\n");
    return {};
  }
  Rows table{{"user", "jobs", "inside 80 %", "within 100 %", "p50/actual", "over --time"}};
  for (const advisor::Calibration& row : *rows) {
    table.push_back({printable(row.who.empty() ? "all" : row.who), fmt::format("{}", row.jobs),
                     fmt::format("{:.1f} %", 100 * row.inside_share),
                     fmt::format("{:.1f} %", 100 * row.within_100_share),
                     fmt::format("{:.2f}", row.bias),
                     row.limits == 0 ? "-" : fmt::format("{:.1f} %", 100 * row.over_limit_share)});
  }
  fmt::print("{}", aligned(table));
  return {};
}

Result<void> export_all(const CommandCall& call, const HistoryFlags& flags) {
  return service::each_job(call.session, flags.user, [](const JobRecord& record) {
    fmt::print("{}\n", in_one_line(advisor::record_document(record)));
  });
}

Result<void> forget(const CommandCall& call, const HistoryFlags& flags) {
  if (auto done = service::forget_job(call.session, flags.subject); !done) return done;
  if (call.json)
    print_document(service::forget_document(flags.subject));
  else
    fmt::print("forgot {}\n", printable(flags.subject));
  return {};
}

struct Action {
  std::string_view name;
  Result<void> (*run)(const CommandCall& call, const HistoryFlags& flags);
  std::string_view subject{};  ///< what has to follow, "" = nothing
};

constexpr std::array actions{
    Action{"add", add, "ID"},
    Action{"finish", finish, "ID"},
    Action{"import", import, "FORMAT:PATH"},
    Action{"list", list},
    Action{"show", show, "ID"},
    Action{"forget", forget, "ID"},
    Action{"calibration", calibration},
    Action{"export", export_all},
};

Result<void> run_action(const CommandCall& call, const HistoryFlags& flags) {
  const auto* const action = std::ranges::find(actions, flags.action, &Action::name);
  if (action == actions.end()) {
    std::array<std::string_view, actions.size()> names;
    std::ranges::transform(actions, names.begin(), &Action::name);
    return fail(ErrorCode::not_found, unknown_name("action", flags.action, names));
  }
  if (!action->subject.empty() && flags.subject.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("history {}: {} is missing", action->name, action->subject));
  return action->run(call, flags);
}

/// The flags of add_job(), where only `add` takes them.
void add_past_job(CLI::App& command, HistoryFlags& flags) {
  command.add_option("--dir", flags.job.root, "add: root folder of the job")->type_name("DIR");
  command.add_option("--workdir", flags.job.workdir, "add: working directory, relative to --dir")
      ->type_name("DIR");
  command.add_option("--command", flags.job.command, "add: command as submitted")
      ->type_name("COMMAND");
  command.add_option("--gpus", flags.job.gpus, "add: GPUs over all nodes; default: 1")
      ->type_name("N");
  command.add_option("--nodes", flags.job.nodes, "add: nodes; default: 1")->type_name("N");
  command.add_option("--gpu-type", flags.job.gpu_type, "add: GPU type as requested")
      ->type_name("TYPE");
  command.add_option("--branch", flags.branch, "add: branch of the repository")->type_name("B");
  command.add_option("--partition", flags.vc, "add: virtual cluster or partition")->type_name("P");
  command.add_option("--facts", flags.facts, "add: output of `facts --json`")->type_name("FILE");
  command.add_option("--submit-time", flags.submit_s, "add: submission time; default: now")
      ->type_name("UNIX_SECONDS");
}

}  // namespace

std::vector<std::string> history_actions() {
  std::vector<std::string> names;
  for (const Action& each : actions) names.emplace_back(each.name);
  return names;
}

Command history_command(const Parser& parser) {
  const auto flags = std::make_shared<HistoryFlags>();
  CLI::App& command = parser.app;
  command.add_option("action", flags->action, "one of the actions below")->type_name("ACTION");
  command.add_option("subject", flags->subject, "job id; for import: FORMAT:PATH")
      ->type_name("SUBJECT");
  command
      .add_option("--state", flags->outcome.state,
                  "finish, add: completed, failed, out_of_memory, cancelled, timeout, node_fail, "
                  "preempted or requeued")
      ->type_name("STATE");
  command.add_option("--duration-s", flags->outcome.duration_s, "finish, add: run time")
      ->type_name("SECONDS");
  command
      .add_option("--gpu-util-pct", flags->outcome.gpu_util_pct,
                  "finish, add: mean GPU utilisation of the run")
      ->type_name("P");
  command
      .add_option("--gpu-memory-mib", flags->outcome.gpu_memory_mib,
                  "finish, add: GPU memory in use, per GPU")
      ->type_name("M");
  command
      .add_option("--log", flags->job.log,
                  "finish: log of the job; stores what track and diagnose find in it")
      ->type_name("FILE");
  command
      .add_option("--job", flags->job_file, "finish: what the scheduler knows about the job (JSON)")
      ->type_name("FILE");
  command
      .add_option("--user", flags->user,
                  "add: owner of the job; list, export: only jobs of this user")
      ->type_name("U");
  add_past_job(command, *flags);
  command.add_option("--limit", flags->limit, "list: number of newest jobs to show; default: 20")
      ->type_name("N");
  add_strict(parser, "import: treat a bad row as an error");
  command.footer(
      "Actions:\n"
      "  finish ID           record how a job that `advise --record` stored ended\n"
      "  add ID              add a job that was never advised (needs --user)\n"
      "  import FORMAT:PATH  import the jobs of an accounting dump or trace (schedmate list "
      "formats)\n"
      "  list, show ID       list the newest jobs; show all that is stored about one\n"
      "  forget ID           delete the job, its facts, its vectors and cached text\n"
      "  calibration         show how accurate past advice was, by user\n"
      "  export              print all jobs, one line of JSON each\n\n"
      "Examples:\n  schedmate history finish 17 --state completed --duration-s 5400\n"
      "  schedmate history import sacct:jobs.txt\n  schedmate history calibration");
  return {[flags](const CommandCall& call) { return done(run_action(call, *flags)); },
          [flags] { return need(!flags->action.empty(), "history", "an action"); }};
}

}  // namespace schedmate
