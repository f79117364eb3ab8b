// SPDX-License-Identifier: Apache-2.0

/// The program: the parser of its command line and the way to each command.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "apps/command_line.hpp"
#include "apps/completion.hpp"
#include "apps/config_command.hpp"
#include "apps/doctor_command.hpp"
#include "apps/interrupt.hpp"
#include "apps/list_command.hpp"
#include "apps/shared_flags.hpp"
#include "apps/version.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr int usage_error = 2;

void add_simulate(CLI::App& program, CommandLine& line) {
  CLI::App& command =
      add_command(program, line, "simulate", "replay a trace under one or more policies");
  SimulateRequest& request = line.simulate;
  command.add_option("--trace", request.trace, "what to replay; sia:FILE for elastic jobs")
      ->type_name("FORMAT:PATH");
  command.add_option("--policy", request.policies, "NAME[:key=value,...][@LABEL], repeatable")
      ->type_name("POLICY")
      ->allow_extra_args(false);
  command.add_option("--out", request.out, "folder for the files")->type_name("DIR");
  command.add_option("--cluster", request.cluster, "cluster file; default: the trace's own")
      ->type_name("FILE");
  command.add_option("--tables", request.tables, "step times of elastic jobs, with sia:FILE")
      ->type_name("DIR");
  command.add_option("--mode", line.mode, "repaired or reference")->type_name("MODE");
  command.add_option("--report", line.report, "html or none")->type_name("REPORT");
  command.add_option("--seed", line.seed, "of everything drawn by lot")->type_name("N");
  command.add_option("--threads", line.threads, "VCs at the same time")->type_name("N");
  command.add_flag("--strict", line.strict, "a bad row of the trace is an error");
  command.add_option("--explain", request.explain, "print why this job waited")->type_name("JOB");
  command.footer(
      "Examples:\n"
      "  schedmate simulate --trace helios:data/venus/venus_sept2020_days0-12.csv.gz \\\n"
      "      --policy fifo --policy sjf:estimate=last_k --policy srtf@best --out out\n"
      "  schedmate simulate --trace sacct:jobs.txt --cluster cluster.toml --policy backfill_easy "
      "\\\n"
      "      --set placement=spread --report none --out out --json\n"
      "  schedmate simulate --trace helios:jobs.csv --policy fifo --explain 765472 --out out");
}

void add_generate(CLI::App& program, CommandLine& line) {
  CLI::App& command = add_command(program, line, "generate",
                                  "a trace of any size: real rows resampled, or synthetic");
  GenerateRequest& request = line.generate;
  command.add_option("--from", request.from, "venus (bundled) or FORMAT:PATH")->type_name("SOURCE");
  command.add_option("--like", request.like, "synthetic: acme-seren, acme-kalos, saturn or a file")
      ->type_name("CLUSTER");
  command.add_option("--elastic", request.elastic, "tables, jobs and cluster of elastic jobs")
      ->type_name("FILE");
  command.add_option("--jobs", request.jobs, "how many jobs")->type_name("N");
  command.add_option("--days", request.days, "how long, with --like; default: 30")->type_name("D");
  command.add_option("--gpus", request.gpus, "size of the cluster; with --like as published")
      ->type_name("G");
  command.add_option("--most-gpus", request.most_gpus, "of a job, with --like")->type_name("G");
  command.add_option("--load", request.load, "GPU time asked for / there is")->type_name("L");
  command.add_option("--cluster", request.cluster, "of the source; default: the trace's own")
      ->type_name("FILE");
  command.add_option("--seed", line.seed, "of the draw")->type_name("N");
  command.add_flag("--strict", line.strict, "a bad row of the source is an error");
  command.add_option("--out", request.out, "folder for jobs.csv and cluster.toml")
      ->type_name("DIR");
  for (const char* flag : {"--jobs", "--gpus", "--most-gpus"})  // in a request 0 is "not given"
    command.get_option(flag)->check([](const std::string& text) {
      const CLI::Range possible(std::int64_t{1}, std::numeric_limits<std::int64_t>::max());
      return possible(text).empty() ? "" : "a whole number of at least 1 is needed, not " + text;
    });
  command.footer(
      "Example:\n"
      "  schedmate generate --from venus --jobs 1000000 --gpus 100000 --load 0.9 --out big\n"
      "  schedmate generate --like acme-seren --days 30 --seed 1 --out seren\n"
      "  schedmate generate --elastic data/elastic/syn_tables.toml --out elastic");
}

void add_whatif(CLI::App& program, CommandLine& line) {
  CLI::App& command = add_command(program, line, "whatif",
                                  "what another policy would have changed on your own cluster");
  WhatifRequest& request = line.whatif;
  command.add_option("--sacct", request.sacct, "what sacct --parsable2 or --json printed")
      ->type_name("FILE");
  command.add_option("--cluster", request.cluster, "cluster file; default: as the dump shows it")
      ->type_name("FILE");
  command.add_option("--policy", request.policies, "what to try, repeatable; default: several")
      ->type_name("POLICY")
      ->allow_extra_args(false);
  command.add_option("--site", request.site, "what stands for your own scheduler; default: Slurm")
      ->type_name("POLICY");
  command.add_option("--out", request.out, "folder for the files; default: print alone")
      ->type_name("DIR");
  command.add_option("--names", request.names, "hashed (default) or plain")->type_name("NAMES");
  command.add_option("--seed", line.seed, "of everything drawn by lot")->type_name("N");
  command.add_option("--threads", line.threads, "VCs at the same time")->type_name("N");
  command.add_flag("--strict", line.strict, "a bad row of the dump is an error");
  command.footer(
      "Example:\n"
      "  TZ=UTC sacct --allusers --duplicates --json --starttime 2024-01-01 > log.json\n"
      "  schedmate whatif --sacct log.json --policy qssf:estimate=last_k --out out");
}

void add_evaluate(CLI::App& program, CommandLine& line) {
  CLI::App& command = add_command(program, line, "evaluate",
                                  "experiments of the evaluation book, arm against host");
  EvaluateRequest& request = line.evaluate;
  command.add_option("files", request.files, "experiments (TOML)")->type_name("FILE");
  command.add_option("--cite", request.cited, "experiments whose CSVs are shown without a run")
      ->type_name("FILE");
  command.add_option("--out", request.out, "folder for the CSVs")->type_name("DIR");
  command.add_option("--book", request.book, "Markdown, and a folder of its pages")
      ->type_name("FILE");
  command.add_option("--threads", line.threads, "perturbations at the same time")->type_name("N");
  command.footer(
      "Example:\n  schedmate evaluate experiments/fig12_venus_heavy.toml --out evaluation");
}

void add_job(CLI::App& command, JobRequest& job) {
  command.add_option("dir", job.root, "root of the job: repository or snapshot")->type_name("DIR");
  command.add_option("--command", job.command, "as it is submitted")->type_name("COMMAND");
  command.add_option("--workdir", job.workdir, "where it starts, below DIR; default: DIR itself")
      ->type_name("DIR");
  command.add_option("--gpus", job.gpus, "of the request, over all nodes; default: 1")
      ->type_name("N");
  command.add_option("--nodes", job.nodes, "of the request; default: 1")->type_name("N");
  command.add_option("--gpu-type", job.gpu_type, "as the request names it")->type_name("TYPE");
}

void add_sources(CLI::App& command, JobRequest& job) {
  command.add_option("--log", job.log, "of an earlier attempt, for the model")->type_name("FILE");
  command.add_option("--monitoring", job.monitoring, "samples of GPU use, for the model")
      ->type_name("FILE");
}

void add_facts(CLI::App& program, CommandLine& line) {
  CLI::App& command =
      add_command(program, line, "facts", "what a job is, each value with its proof");
  add_job(command, line.facts.job);
  add_model(command, line);
  add_sources(command, line.facts.job);
  command.add_flag("--explain", line.facts.explain, "also what was found and not taken");
  command.footer("Example:\n  schedmate facts . --command 'torchrun train.py --lr 0.1' --gpus 8");
}

void add_advise(CLI::App& program, CommandLine& line) {
  CLI::App& command =
      add_command(program, line, "advise", "how long a job will run, by the past jobs like it");
  AdviseRequest& request = line.advise;
  add_job(command, request.job);
  add_model(command, line);
  add_sources(command, request.job);
  command.add_option("--user", request.user, "name for the history")->type_name("U");
  command.add_option("--branch", request.branch, "of the repository")->type_name("B");
  command.add_option("--partition", request.vc, "virtual cluster or partition")->type_name("P");
  command.add_option("--time-limit", request.time_limit_s, "no estimate is above it")
      ->type_name("SECONDS");
  command.add_option("--job-id", request.id, "under which --record keeps it")->type_name("ID");
  command.add_option("--submit-time", request.submit_s, "default: now")->type_name("UNIX_SECONDS");
  command.add_flag("--record", request.record, "remember the submission; later: history finish ID");
  command.add_option("--estimate", line.estimate, "calibrated (default) or paper")
      ->type_name("ESTIMATE");
  command.add_option("--similarity", line.similarity, "mixed (default) or paper")
      ->type_name("SIMILARITY");
  command
      .add_option("--embedder", line.embedder, "what makes vectors of job texts; default: lexical")
      ->type_name("EMBEDDER");
  command.footer(
      "Example:\n  schedmate advise . --command 'python train.py --epochs 20' --user ann \\\n"
      "      --job-id 17 --record");
}

/// The same flags as add_job(), where only `add` takes them.
void add_past_job(CLI::App& command, HistoryRequest& request) {
  command.add_option("--dir", request.job.root, "add: root of the job")->type_name("DIR");
  command.add_option("--workdir", request.job.workdir, "add: where it started, below --dir")
      ->type_name("DIR");
  command.add_option("--command", request.job.command, "add: as it was submitted")
      ->type_name("COMMAND");
  command.add_option("--gpus", request.job.gpus, "add: over all nodes; default: 1")->type_name("N");
  command.add_option("--nodes", request.job.nodes, "add: default: 1")->type_name("N");
  command.add_option("--gpu-type", request.job.gpu_type, "add: as the request named it")
      ->type_name("TYPE");
  command.add_option("--branch", request.branch, "add: of the repository")->type_name("B");
  command.add_option("--partition", request.vc, "add: virtual cluster or partition")
      ->type_name("P");
  command.add_option("--facts", request.facts, "add: what `facts --json` printed")
      ->type_name("FILE");
  command.add_option("--submit-time", request.submit_s, "add: default: now")
      ->type_name("UNIX_SECONDS");
}

void add_history(CLI::App& program, CommandLine& line) {
  CLI::App& command = add_command(program, line, "history", "the store of past jobs");
  HistoryRequest& request = line.history;
  command.add_option("action", request.action, "one of those below")->type_name("ACTION");
  command.add_option("subject", request.subject, "job id; of import FORMAT:PATH")
      ->type_name("SUBJECT");
  command
      .add_option("--state", request.state,
                  "finish, add: completed, failed, cancelled, timeout or node_fail")
      ->type_name("STATE");
  command.add_option("--duration-s", request.duration_s, "finish, add: how long it ran")
      ->type_name("SECONDS");
  command.add_option("--gpu-util-pct", request.gpu_util_pct, "finish, add: mean over the run")
      ->type_name("P");
  command.add_option("--gpu-memory-mib", request.gpu_memory_mib, "finish, add: per GPU")
      ->type_name("M");
  command.add_option("--log", request.job.log, "finish: what track and diagnose find is kept")
      ->type_name("FILE");
  command.add_option("--job", request.job_file, "finish: what the scheduler knows of it (JSON)")
      ->type_name("FILE");
  command.add_option("--user", request.user, "add: whose job; list, export: only this user's")
      ->type_name("U");
  add_past_job(command, request);
  command.add_option("--limit", request.limit, "list: newest so many; default: 20")->type_name("N");
  command.add_flag("--strict", line.strict, "import: a bad row is an error");
  command.footer(
      "Actions:\n"
      "  finish ID           how a job ended that `advise --record` remembers\n"
      "  add ID              a job that was never advised, with --user\n"
      "  import FORMAT:PATH  the jobs of an accounting dump or trace (schedmate list formats)\n"
      "  list, show ID       the newest jobs; all that is kept of one\n"
      "  forget ID           the job, its facts, its vectors and cached text\n"
      "  calibration         how good past advice was, by user\n"
      "  export              all jobs, one line of JSON each\n\n"
      "Examples:\n  schedmate history finish 17 --state completed --duration-s 5400\n"
      "  schedmate history import sacct:jobs.txt\n  schedmate history calibration");
}

void add_others(CLI::App& program, CommandLine& line) {
  add_command(program, line, "list", "policies, estimators, formats, placers, settings")
      .footer("Example:\n  schedmate list policies")
      ->add_option("table", line.table, "one of them; default: all")
      ->type_name("TABLE");
  add_command(program, line, "config", "every setting: value, default, unit, origin, effect")
      .footer("Example:\n  schedmate config --set placement=spread --json");
  add_command(program, line, "doctor", "what works on this machine and what does not")
      .footer("Example:\n  schedmate doctor");
  add_command(program, line, "version", "version, commit, compiler, build type")
      .footer("Example:\n  schedmate version --json");
  add_command(program, line, "completion", "completions for bash, zsh or fish")
      .footer("Example:\n  source <(schedmate completion bash)")
      ->add_option("shell", line.shell, "bash, zsh or fish")
      ->type_name("SHELL");
}

FlagDescription describe(const CLI::Option& option) {
  FlagDescription flag{"", option.get_description(), Values::none, {}};
  if (!option.get_lnames().empty()) flag.name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() == 0) return flag;
  const std::string type = option.get_type_name();
  const auto choose = [&](std::vector<std::string> choices) {
    flag.values = Values::choices;
    flag.choices = std::move(choices);
  };
  flag.values = type.ends_with("FILE") || type == "DIR" || type.starts_with("LOG") ? Values::path
                                                                                   : Values::text;
  if (type == "POLICY") choose(table_names("policies", ""));
  if (type == "KEY=VALUE") choose(table_names("settings", "="));
  if (type == "MODE") choose({"repaired", "reference"});
  if (type == "NAMES") choose({"hashed", "plain"});
  if (type == "REPORT") choose({"html", "none"});
  if (type == "ACTION") choose(history_actions());
  if (type == "ESTIMATE") choose({"calibrated", "paper"});
  if (type == "SIMILARITY") choose({"mixed", "paper"});
  if (type == "EMBEDDER") choose(table_names("embedders", ""));
  if (type == "LOCATOR") choose(table_names("locators", ""));
  if (type == "CLASSIFIER") choose(table_names("classifiers", ""));
  if (type == "STATE") choose({"completed", "failed", "cancelled", "timeout", "node_fail"});
  if (type == "SHELL") choose({"bash", "zsh", "fish"});
  if (type == "TABLE") choose(list_kinds());
  if (type == "FORMAT:PATH" || type == "SOURCE") {
    choose(table_names("formats", ""));
    flag.values = Values::trace;
  }
  return flag;
}

using Flags = std::vector<FlagDescription>;
using Commands = std::vector<CommandDescription>;

Flags describe_flags(const CLI::App& command) {
  Flags flags;
  for (const CLI::Option* option : command.get_options()) flags.push_back(describe(*option));
  return flags;
}

Commands describe(const CLI::App& program) {
  Commands commands;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back({command->get_name(), command->get_description(), describe_flags(*command)});
  return commands;
}

/// What CLI11 did not know, as an error with the nearest name.
Result<void> check_known(const CLI::App& program, const CLI::App& where) {
  const auto unknown = where.remaining();
  if (unknown.empty()) return {};
  const std::string wanted = unknown.front().substr(0, unknown.front().find('='));
  const bool is_flag = wanted.starts_with("-");
  std::vector<std::string> names;
  for (const FlagDescription& flag : is_flag ? describe_flags(where) : Flags())
    if (!flag.name.empty()) names.push_back(flag.name);
  const bool is_command = &where == &program && !is_flag;
  for (const CommandDescription& command : is_command ? describe(program) : Commands())
    names.push_back(command.name);
  return fail(ErrorCode::not_found,
              unknown_name(is_flag      ? "flag"
                           : is_command ? "command"
                                        : "argument",
                           wanted, std::vector<std::string_view>(names.begin(), names.end())));
}

Result<int> dispatch(const CLI::App& program, const CommandLine& line, const Session& session) {
  const auto done = [](const Result<void>& result) { return result.map([] { return 0; }); };
  if (line.command == "simulate") return done(simulate_command(session, line.simulate));
  if (line.command == "whatif") return whatif_command(session, line.whatif);
  if (line.command == "evaluate") return done(evaluate_command(session, line.evaluate));
  if (line.command == "generate")
    return generate_command(session, line.generate).map([](bool holds) { return holds ? 0 : 1; });
  if (line.command == "facts") return done(facts_command(session, line.facts));
  if (line.command == "track") return done(track_command(session, line.track));
  if (line.command == "ask") return done(ask_command(session, line.ask));
  if (line.command == "advise") return done(advise_command(session, line.advise));
  if (line.command == "history") return done(history_command(session, line.history));
  if (line.command == "diagnose") return done(diagnose_command(session, line.diagnose));
  if (line.command == "list") return done(list_command(line.table, session.json));
  if (line.command == "doctor") return doctor_command(session) ? 0 : 1;
  if (line.command == "config") config_command(session);
  if (line.command == "version") print_version(session.json);
  if (line.command != "completion") return 0;
  const auto script = completion(line.shell, describe(program));
  if (script) fmt::print("{}", *script);
  return script.map([](const std::string&) { return 0; });
}

Result<int> run(const CLI::App& program, const CommandLine& line, Environment environment) {
  if (auto ok = check_known(program, program); !ok) return tl::unexpected(ok.error());
  for (const CLI::App* command : program.get_subcommands())
    if (auto ok = check_known(program, *command); !ok) return tl::unexpected(ok.error());
  if (line.command.empty()) {
    fmt::print(stderr, "{}", program.help());
    return usage_error;
  }
  if (auto ok = check_complete(line); !ok) return tl::unexpected(ok.error());
  auto settings = settle(line, environment);
  if (!settings) return tl::unexpected(settings.error());
  return dispatch(program, line, {std::move(environment), std::move(*settings), line.json});
}

int complain(const Error& error) {
  fmt::print(stderr, "schedmate: {}\n", error.message);
  return exit_code(error.code);
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv, char** environment) {
  namespace sm = schedmate;
  sm::clean_up_when_interrupted();
  sm::CommandLine line;
  CLI::App program("GPU-cluster scheduling: replay, compare and explain", "schedmate");
  program.set_version_flag("--version", fmt::format("schedmate {}", sm::version().version));
  sm::add_common(program, line);
  program.require_subcommand(0, 1);
  sm::add_simulate(program, line);
  sm::add_generate(program, line);
  sm::add_whatif(program, line);
  sm::add_evaluate(program, line);
  sm::add_facts(program, line);
  sm::add_log_commands(program, line);
  sm::add_advise(program, line);
  sm::add_history(program, line);
  sm::add_others(program, line);
  try {
    program.parse(argc, argv);
    const auto done = sm::run(program, line, sm::read_environment(environment));
    return done ? *done : sm::complain(done.error());
  } catch (const CLI::Success& asked) {  // --help, --version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    return sm::complain({sm::ErrorCode::unsupported, error.what()});
  } catch (const std::bad_alloc&) {
    return sm::complain({sm::ErrorCode::unavailable, "out of memory"});
  }
}
