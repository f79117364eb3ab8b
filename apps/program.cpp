// SPDX-License-Identifier: Apache-2.0
#include "apps/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/actions_command.hpp"
#include "apps/history_command.hpp"
#include "apps/list_command.hpp"
#include "apps/token_command.hpp"
#include "apps/work_command.hpp"
#include "base/text.hpp"
#include "service/report.hpp"

namespace schedmate {
namespace {

FlagDescription describe_flag(const CLI::Option& option) {
  FlagDescription flag{"", option.get_description(), Values::none, {}};
  if (!option.get_lnames().empty()) flag.name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() == 0) return flag;
  const std::string type = option.get_type_name();
  const auto choose = [&](std::vector<std::string> choices) {
    flag.values = Values::choices;
    flag.choices = std::move(choices);
  };
  flag.values = type.ends_with("FILE") || type == "DIR" || type == "ID|LOG|DIR" ||
                        type == "DIR|LOG|ID" || type.starts_with("LOG")
                    ? Values::path
                    : Values::text;
  if (type == "POLICY") choose(table_names("policies", ""));
  if (type == "KEY=VALUE") choose(table_names("settings", "="));
  if (type == "MODE") choose({"repaired", "reference"});
  if (type == "NAMES") choose({"hashed", "plain"});
  if (type == "REPORT") choose({"html", "none"});
  if (type == "ACTION") choose(history_actions());
  if (type == "VERB") choose(action_verbs());
  if (type == "TOKENACTION") choose(token_actions());
  if (type == "WORKACTION") choose(work_actions());
  if (type == "SLURMACTION") choose({"install", "uninstall"});
  if (type == "HOOK") choose({"tag", "ends"});
  if (type == "ROLE") choose({"owner", "viewer", "operator"});
  if (type == "JOBSTATE")
    choose({"pending", "running", "completed", "failed", "cancelled", "timeout", "node_fail",
            "preempted", "requeued"});
  if (type == "ESTIMATE") choose({"calibrated", "paper"});
  if (type == "SIMILARITY") choose({"mixed", "paper"});
  if (type == "EMBEDDER") choose(table_names("embedders", ""));
  if (type == "LOCATOR") choose(table_names("locators", ""));
  if (type == "CLASSIFIER") choose(table_names("classifiers", ""));
  if (type == "STATE") choose({"completed", "failed", "cancelled", "timeout", "node_fail"});
  const auto choose_rows = [&](std::span<const std::string_view> rows) {
    choose(std::vector<std::string>(rows.begin(), rows.end()));
  };
  if (type == "GROUPING") choose_rows(service::report_groupings());
  if (type == "SORTING") choose_rows(service::report_sortings());
  if (type == "SHELL") choose({"bash", "zsh", "fish"});
  if (type == "TABLE") choose(list_kinds());
  if (type == "FORMAT:PATH" || type == "SOURCE") {
    choose(table_names("formats", ""));
    flag.values = Values::trace;
  }
  return flag;
}

using Flags = std::vector<FlagDescription>;

Flags describe_flags(const CLI::App& command) {
  Flags flags;
  for (const CLI::Option* option : command.get_options()) flags.push_back(describe_flag(*option));
  return flags;
}

/// What CLI11 did not know, as an error with the nearest name.
Result<void> check_known_in(const CLI::App& program, const CLI::App& where) {
  auto unknown = where.remaining();
  std::erase(unknown, "--");  // what stands behind it is no flag
  if (unknown.empty()) return {};
  // What an unknown flag leaves over is no mistake of its own.
  std::ranges::stable_partition(unknown, [](const auto& word) { return word.starts_with("-"); });
  const std::string wanted = unknown.front().substr(0, unknown.front().find('='));
  const bool is_flag = wanted.starts_with("-");
  std::vector<std::string> names;
  for (const FlagDescription& flag : is_flag ? describe_flags(where) : Flags())
    if (!flag.name.empty()) names.push_back(flag.name);
  const bool is_command = &where == &program && !is_flag;
  for (const CommandDescription& command :
       is_command ? describe(program) : std::vector<CommandDescription>())
    names.push_back(command.name);
  return fail(ErrorCode::not_found,
              unknown_name(is_flag      ? "flag"
                           : is_command ? "command"
                                        : "argument",
                           wanted, std::vector<std::string_view>(names.begin(), names.end())));
}

}  // namespace

void add_common(CLI::App& app, CommonFlags& common) {
  app.add_flag("--json", common.json, "print one JSON document instead of text");
  app.add_option("--config", common.sources.file, "settings file (TOML)")->type_name("FILE");
  add_setting({app, common}, "--state-dir", "state_dir", "where SchedMate keeps its state");
  app.get_option("--state-dir")->type_name("DIR");
  app.add_option("--set", common.pairs,
                 "change one setting; repeatable; `schedmate config` lists them")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.allow_extras();  // reported by us, with the nearest name
}

std::vector<CommandDescription> describe(const CLI::App& program) {
  std::vector<CommandDescription> commands;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back({command->get_name(), command->get_description(), describe_flags(*command)});
  return commands;
}

Result<void> check_known(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands())
    if (auto ok = check_known_in(program, *command); !ok) return ok;
  return check_known_in(program, program);
}

}  // namespace schedmate
