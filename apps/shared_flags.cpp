// SPDX-License-Identifier: Apache-2.0
#include "apps/shared_flags.hpp"

#include <CLI/CLI.hpp>

namespace schedmate {
void add_common(CLI::App& app, CommandLine& line) {
  app.add_flag("--json", line.json, "print one JSON document instead of text");
  app.add_option("--config", line.config, "settings file (TOML)")->type_name("FILE");
  app.add_option("--state-dir", line.state_dir, "where SchedMate keeps its state")
      ->type_name("DIR");
  app.add_option("--set", line.settings, "one setting, repeatable; `schedmate config` lists them")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.allow_extras();  // reported by us, with the nearest name
}

CLI::App& add_command(CLI::App& program, CommandLine& line, const std::string& name,
                      const std::string& help) {
  CLI::App& command = *program.add_subcommand(name, help);
  command.callback([&line, name] { line.command = name; });
  add_common(command, line);
  return command;
}

void add_model(CLI::App& command, CommandLine& line) {
  command.add_option("--llm", line.llm, "none, or the language models that fill gaps")
      ->type_name("NAME[,NAME]");
}

namespace {

void add_track(CLI::App& program, CommandLine& line) {
  CLI::App& command = add_command(program, line, "track", "how far a job is, by its log alone");
  command.add_option("log", line.track.logs, "one for each rank")->type_name("LOG");
  command.add_flag("--follow", line.track.follow, "again on every change; nothing on silence");
  command.add_option("--every", line.track.every_s, "seconds between looks (2)");
  command.add_option("--for", line.track.for_s, "seconds to follow; else until interrupted");
  add_model(command, line);
  command.footer("Example:\n  schedmate track slurm-17.out --follow --json");
}

void add_ask(CLI::App& program, CommandLine& line) {
  CLI::App& command = add_command(program, line, "ask", "what a log says, in words and lines");
  command.add_option("subject", line.ask.subject, "a log, or a job of the history")
      ->type_name("LOG|JOB");
  command.add_option("question", line.ask.question, "one or several, with '?' between")
      ->type_name("QUESTION");
  add_model(command, line);
  command.footer(
      "Example:\n  schedmate ask slurm-17.out \"how fast is it? did it save? why did it stop?\"");
}

void add_diagnose(CLI::App& program, CommandLine& line) {
  CLI::App& command =
      add_command(program, line, "diagnose", "why a job ended, with the line that says so");
  DiagnoseRequest& request = line.diagnose;
  command
      .add_option("logs", request.logs,
                  "of one job: one log, one for each rank, or a job of the history")
      ->type_name("LOG|JOB");
  command.add_option("--job", request.job, "what the scheduler knows of the job (JSON)")
      ->type_name("FILE");
  command
      .add_option("--kernel-log", request.kernel_logs,
                  "of a node of the job (dmesg -T, journalctl -k), repeatable")
      ->type_name("[NODE=]FILE")
      ->allow_extra_args(false);
  command.add_flag("--nvml", request.nvml, "ask the GPUs of this machine");
  command
      .add_option("--nvml-from", request.readings, "what --nvml --json printed there, repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--good", request.good, "log of a run that went well; what is new since")
      ->type_name("FILE");
  command.add_option("--locate", request.locate, "how the line is found; default: scan")
      ->type_name("LOCATOR");
  command
      .add_option("--classify", request.classify, "what tells kinds of lines apart; default: rules")
      ->type_name("CLASSIFIER");
  add_model(command, line);
  command.footer(
      "Example:\n  schedmate diagnose slurm-17.out --job job.json --kernel-log n11=dmesg.txt "
      "--nvml");
}

}  // namespace

void add_log_commands(CLI::App& program, CommandLine& line) {
  add_track(program, line);
  add_ask(program, line);
  add_diagnose(program, line);
}

}  // namespace schedmate
