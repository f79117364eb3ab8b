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
#include "apps/flag_values.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "service/history.hpp"

namespace schedmate {
namespace {

constexpr std::int64_t most_gpus = 10'000'000;
constexpr double most_gpu_memory_mib = 16.0 * 1024 * 1024;

struct HistoryFlags {
  std::string action, subject;
  service::JobRequest job;
  service::OutcomeRequest outcome;
  std::string job_file, user, branch, vc, facts;
  std::int64_t submit_s = -1;
  std::int64_t limit = 20;
  bool replace = false;
};

Result<void> add(const CommandCall& call, const HistoryFlags& flags) {
  const auto record =
      service::add_job(call.session, {flags.subject, flags.user, flags.branch, flags.vc, flags.job,
                                      flags.facts, flags.submit_s, flags.outcome});
  if (!record) return tl::unexpected(record.error());
  if (call.json)
    call.console.json(advisor::record_document(*record));
  else
    call.console.text(fmt::format("added {}\n", printable(record->id)));
  return {};
}

/// How the advice came out, beside the outcome.
std::string finish_text(const JobRecord& record) {
  const auto score = advisor::score_advice(record);
  return fmt::format("{}: {} after {}{}\n", printable(record.id),
                     advisor::state_word(record.outcome->state), in_words(record.outcome->duration),
                     !score ? std::string()
                            : fmt::format("; advised {}, {} the interval",
                                          in_words(Seconds(std::llround(score->p50.count()))),
                                          score->inside ? "inside" : "outside"));
}

Result<void> finish(const CommandCall& call, const HistoryFlags& flags) {
  const auto record = service::finish_job(
      call.session, {flags.subject, flags.outcome, flags.job.log, flags.job_file, flags.replace});
  if (!record) return tl::unexpected(record.error());
  if (call.json)
    call.console.json(service::finish_document(*record));
  else
    call.console.text(finish_text(*record));
  return {};
}

Result<void> import(const CommandCall& call, const HistoryFlags& flags) {
  const auto imported = service::import_jobs(call.session, flags.subject);
  if (!imported) return tl::unexpected(imported.error());
  if (call.json) {
    call.console.json(service::import_document(*imported));
    return {};
  }
  std::string text = fmt::format("{} jobs from {} rows\n", imported->jobs, imported->rows);
  for (const auto& [reason, rows] : imported->dropped)
    text += fmt::format("  {} left out: {}\n", rows, printable(reason));
  for (const std::string& message : imported->messages)
    text += fmt::format("  {}\n", printable(message));
  call.console.text(text);
  return {};
}

/// Traces that count from their own first instant have no dates: "+9-14:05", days and time of day,
/// as `eta --at` takes it.
std::string date_of(const settings::Environment& here, SimTime submit) {
  constexpr std::int64_t day_s = 86'400, first_date_s = 365 * day_s;
  const std::int64_t s = seconds_of(submit);
  if (s < 0 || s >= first_date_s) return here.date(s);
  return fmt::format("+{}-{:02}:{:02}", s / day_s, s % day_s / 3600, s % 3600 / 60);
}

std::vector<Cell> table_row(const settings::Environment& here, const JobRecord& record) {
  const bool ended = record.outcome.has_value();
  return {printable(record.id),
          printable(record.user),
          date_of(here, record.submit),
          fmt::format("{}", record.gpus),
          ended ? advisor::state_word(record.outcome->state) : "-",
          ended ? in_words(record.outcome->duration) : "-",
          printable(advisor::field(record.fields, "model_name")),
          printable(record.command.substr(0, 60))};
}

Result<void> list(const CommandCall& call, const HistoryFlags& flags) {
  const auto limit = static_cast<std::size_t>(flags.limit);
  const auto records = service::list_jobs(call.session, flags.user, limit);
  if (!records) return tl::unexpected(records.error());
  if (call.json) {
    call.console.json(service::list_document(*records));
    return {};
  }
  std::vector<std::vector<Cell>> rows;
  for (const JobRecord& record : *records)
    rows.push_back(table_row(call.session.environment, record));
  const std::vector<TableColumn> names{
      {"job"}, {"user", 1}, {"submitted", 2}, {"GPUs", 4},
      {"end"}, {"ran"},     {"model", 3},     {"command", 5, false, 12}};
  call.console.text(table_text(names, rows, call.session.environment.columns));
  return {};
}

Result<void> show(const CommandCall& call, const HistoryFlags& flags) {
  const auto record = service::show_job(call.session, flags.subject);
  if (!record) return tl::unexpected(record.error());
  call.console.json(advisor::record_document(*record));
  return {};
}

Result<void> calibration(const CommandCall& call, const HistoryFlags& /*flags*/) {
  const auto rows = service::calibration(call.session);
  if (!rows) return tl::unexpected(rows.error());
  if (call.json) {
    call.console.json(service::calibration_document(*rows));
    return {};
  }
  if (rows->front().jobs == 0) {
    call.console.text(
        "no advice has met its outcome yet: record submissions with `advise --record --job-id "
        "ID`,\n"
        "then their ends with `history finish ID`; jobs count that completed and were told a "
        "length\n");
    return {};
  }
  const std::vector<TableColumn> names{
      {"user"}, {"jobs"}, {"inside 80 %"}, {"within 100 %", 2}, {"p50/actual", 1}, {"over --time"}};
  std::vector<std::vector<Cell>> table;
  for (const advisor::Calibration& row : *rows) {
    table.push_back({printable(row.who.empty() ? "all" : row.who), fmt::format("{}", row.jobs),
                     fmt::format("{:.1f} %", 100 * row.inside_share),
                     fmt::format("{:.1f} %", 100 * row.within_100_share),
                     fmt::format("{:.2f}", row.bias),
                     row.limits == 0 ? "-" : fmt::format("{:.1f} %", 100 * row.over_limit_share)});
  }
  call.console.text(table_text(names, table, call.session.environment.columns));
  return {};
}

Result<void> export_all(const CommandCall& call, const HistoryFlags& flags) {
  return service::each_job(call.session, flags.user, [&](const JobRecord& record) {
    call.console.json_line(advisor::record_document(record));
  });
}

Result<void> forget(const CommandCall& call, const HistoryFlags& flags) {
  if (auto done = service::forget_job(call.session, flags.subject); !done) return done;
  if (call.json)
    call.console.json(service::forget_document(flags.subject));
  else
    call.console.text(fmt::format("forgot {}\n", printable(flags.subject)));
  return {};
}

struct HistoryAction {
  std::string_view name;
  Result<void> (*run)(const CommandCall& call, const HistoryFlags& flags);
  std::string_view does;
  std::string_view subject{};  ///< what has to follow, "" = nothing
};

constexpr std::array actions{
    HistoryAction{"add", add, "add a job that was never advised (needs --user)", "ID"},
    HistoryAction{"finish", finish, "record how a job that `advise --record` stored ended", "ID"},
    HistoryAction{"import", import,
                  "import the jobs of an accounting dump or trace (schedmate list formats)",
                  "FORMAT:PATH"},
    HistoryAction{"list", list, "list the newest jobs"},
    HistoryAction{"show", show, "show all that is stored about one job", "ID"},
    HistoryAction{"forget", forget, "delete the job, its facts, its vectors and cached text", "ID"},
    HistoryAction{"calibration", calibration, "show how accurate past advice was, by user"},
    HistoryAction{"export", export_all, "print all jobs, one line of JSON each"},
};

Result<const HistoryAction*> action_of(const std::string& name) {
  const auto* const action = std::ranges::find(actions, name, &HistoryAction::name);
  if (action != actions.end()) return action;
  std::array<std::string_view, actions.size()> names;
  std::ranges::transform(actions, names.begin(), &HistoryAction::name);
  return fail(ErrorCode::not_found, unknown_name("action", name, names));
}

/// The flags of single actions.
class OwnFlags {
 public:
  /// `names` are the actions that take the flag, "add, finish".
  CLI::Option& add(std::string_view names, CLI::Option* option, const char* type) {
    option->type_name(type)->description(fmt::format("{}: {}", names, option->get_description()));
    flags_.push_back({option, names});
    return *option;
  }
  /// A flag of another action. Errors: unsupported.
  [[nodiscard]] Result<void> check(std::string_view action) const {
    for (const Flag& flag : flags_) {
      if (flag.option->count() == 0 || flag.is_of(action)) continue;
      return fail(ErrorCode::unsupported,
                  fmt::format("history {0}: takes no {1} (schedmate history {0} --help)", action,
                              flag.option->get_name()));
    }
    return {};
  }
  /// The help names only what the action takes.
  void hide_others(std::string_view action) const {
    for (const Flag& flag : flags_)
      if (!flag.is_of(action)) flag.option->group("");
  }

 private:
  struct Flag {
    CLI::Option* option;
    std::string_view actions;
    [[nodiscard]] bool is_of(std::string_view action) const {
      return std::ranges::any_of(split(actions, ','),
                                 [&](std::string_view name) { return trim(name) == action; });
    }
  };
  std::vector<Flag> flags_;
};

Result<void> check(const HistoryFlags& flags, const OwnFlags& own) {
  if (flags.action.empty()) return need(false, "history", "an action");
  const auto action = action_of(flags.action);
  if (!action) return tl::unexpected(action.error());
  if (!(*action)->subject.empty() && flags.subject.empty())
    return need(false, fmt::format("history {}", flags.action), (*action)->subject);
  if ((*action)->subject.empty() && !flags.subject.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("history {}: takes no argument '{}'", flags.action, flags.subject));
  return own.check(flags.action);
}

/// The flags of add_job(), where only `add` takes them.
void add_past_job(CLI::App& command, HistoryFlags& flags, OwnFlags& own) {
  own.add("add", command.add_option("--dir", flags.job.root, "root folder of the job"), "DIR");
  own.add(
      "add",
      command.add_option("--workdir", flags.job.workdir, "working directory, relative to --dir"),
      "DIR");
  own.add("add", command.add_option("--command", flags.job.command, "command as submitted"),
          "COMMAND");
  takes_whole(
      own.add("add",
              command.add_option("--gpus", flags.job.gpus, "GPUs over all nodes; default: 1"), "N"),
      1, most_gpus);
  takes_whole(
      own.add("add", command.add_option("--nodes", flags.job.nodes, "nodes; default: 1"), "N"), 1,
      most_gpus);
  own.add("add", command.add_option("--gpu-type", flags.job.gpu_type, "GPU type as requested"),
          "TYPE");
  own.add("add", command.add_option("--branch", flags.branch, "branch of the repository"), "B");
  own.add("add", command.add_option("--partition", flags.vc, "virtual cluster or partition"), "P");
  own.add("add", command.add_option("--facts", flags.facts, "output of `facts --json`"), "FILE");
  takes_date(own.add(
      "add", command.add_option("--submit-time", flags.submit_s, "submission time; default: now"),
      "UNIX_SECONDS"));
}

void add_outcome(CLI::App& command, HistoryFlags& flags, OwnFlags& own) {
  service::OutcomeRequest& outcome = flags.outcome;
  own.add(
      "finish, add",
      command.add_option(
          "--state", outcome.state,
          "completed, failed, out_of_memory, cancelled, timeout, node_fail, preempted or requeued"),
      "STATE");
  takes_duration(own.add("finish, add",
                         command.add_option("--duration-s", outcome.duration_s,
                                            "run time: seconds, or 90m, 2:00:00, 1-12:00:00"),
                         "TIME"));
  takes_number(own.add("finish, add",
                       command.add_option("--gpu-util-pct", outcome.gpu_util_pct,
                                          "mean GPU utilisation of the run"),
                       "P"),
               0, 100);
  takes_number(own.add("finish, add",
                       command.add_option("--gpu-memory-mib", outcome.gpu_memory_mib,
                                          "GPU memory in use, per GPU"),
                       "M"),
               0, most_gpu_memory_mib);
  own.add("finish",
          command.add_option("--log", flags.job.log,
                             "log of the job; stores what track and diagnose find in it"),
          "FILE");
  own.add(
      "finish",
      command.add_option("--job", flags.job_file, "what the scheduler knows about the job (JSON)"),
      "FILE");
  own.add("finish",
          command.add_flag("--replace", flags.replace, "overwrite how the job ended before"), "");
}

std::string footer() {
  std::vector<std::vector<std::string>> rows;
  for (const HistoryAction& action : actions)
    rows.push_back({fmt::format("  {} {}", action.name, action.subject), std::string(action.does)});
  return "Actions:\n" + aligned(rows) +
         "\nExamples:\n  schedmate history finish 17 --state completed --duration-s 5400\n"
         "  schedmate history import sacct:jobs.txt\n  schedmate history calibration";
}

/// Turns the parser's help into that of the action that was named, if one was.
void narrow_help(CLI::App& command, const OwnFlags& own) {
  const auto& words = command.get_option("action")->results();
  const auto action = action_of(words.empty() ? "" : words.front());
  if (!action) return;
  own.hide_others((*action)->name);
  for (const char* const word : {"action", "subject"})
    command.remove_option(command.get_option(word));
  command.description(std::string((*action)->does));
  command.name(fmt::format("history {} {}", (*action)->name, (*action)->subject));
  command.footer("");
}

}  // namespace

std::vector<std::string> history_actions() {
  std::vector<std::string> names;
  for (const HistoryAction& each : actions) names.emplace_back(each.name);
  return names;
}

Command history_command(const Parser& parser) {
  const auto flags = std::make_shared<HistoryFlags>();
  const auto own = std::make_shared<OwnFlags>();
  CLI::App& command = parser.app;
  command.add_option("action", flags->action, "one of the actions below")->type_name("ACTION");
  command.add_option("subject", flags->subject, "job id; for import: FORMAT:PATH")
      ->type_name("SUBJECT");
  add_outcome(command, *flags, *own);
  own->add("add, list, export",
           command.add_option("--user", flags->user, "owner of the job, or only jobs of this user"),
           "U");
  add_past_job(command, *flags, *own);
  takes_whole(own->add(
      "list",
      command.add_option("--limit", flags->limit, "number of newest jobs to show; default: 20"),
      "N"));
  add_strict(parser, "treat a bad row as an error");
  own->add("import", command.get_option("--strict"), "");
  command.footer(footer());
  return {.run =
              [flags](const CommandCall& call) {
                return action_of(flags->action).and_then([&](const HistoryAction* action) {
                  return done(action->run(call, *flags));
                });
              },
          .check = [flags, own] { return check(*flags, *own); },
          .narrow_help = [&command, own] { narrow_help(command, *own); }};
}

}  // namespace schedmate
