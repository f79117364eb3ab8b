// SPDX-License-Identifier: Apache-2.0

/// `schedmate submit`: a new job, where SchedMate is the scheduler.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "screen/fields.hpp"
#include "service/snapshot.hpp"
#include "settings/state_folder.hpp"

namespace schedmate {
namespace {

struct SubmitFlags {
  client::WhichDaemon which;
  std::int64_t gpus = 1, nodes = 1, limit_s = 0;
  std::string user, dir, name, partition, output, key;
  std::vector<std::string> command;
  bool snapshot = false;
};

/// The words as one line of a shell; those with blanks and the like in quotes.
std::string shell_line(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string line;
  for (const std::string& word : words) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
    if (!line.empty()) line += ' ';
    const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    line += is_plain ? word : shell_quoted(word);
  }
  return line;
}

std::string dir_of(const SubmitFlags& flags) {
  std::error_code error;
  if (flags.dir.empty()) return std::filesystem::current_path(error).string();
  return std::filesystem::absolute(flags.dir, error).lexically_normal().string();
}

/// Of a job that runs in a copy: as if it ran in the folder itself.
std::string output_of(const SubmitFlags& flags) {
  if (!flags.snapshot || flags.output.empty()) return flags.output;
  return (std::filesystem::path(dir_of(flags)) / flags.output).lexically_normal().string();
}

Document request_of(const SubmitFlags& flags, const std::string& dir) {
  Document made{{"command", shell_line(flags.command)},
                {"dir", dir},
                {"gpus", flags.gpus},
                {"nodes", flags.nodes}};
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) made[key] = text;
  };
  add("name", flags.name);
  add("user", flags.user);
  add("partition", flags.partition);
  add("output", output_of(flags));
  if (flags.limit_s > 0) made["limit_s"] = flags.limit_s;
  return made;
}

bool is_open(const Document& action) {
  const std::string state = screen::word(action, "state");
  for (const std::string_view open : {"planned", "approved", "intended", "called", "ambiguous"})
    if (state == open) return true;
  return false;
}

/// Nobody has taken the job: with other errors somebody may have.
bool is_refusal(const Error& error) {
  return error.code != ErrorCode::timeout && error.code != ErrorCode::unavailable &&
         error.code != ErrorCode::bad_reply;
}

/// The action as it is in the end, or after ten seconds.
Result<Document> submitted(const client::DaemonClient& daemon, const client::Call& ask,
                           const Clock& clock) {
  constexpr int looks = 40;
  constexpr std::chrono::milliseconds between{250};
  auto action = client::ask_once(daemon, ask, "schedmate.action.v1", clock);
  for (int i = 0; i < looks && action && is_open(*action); ++i) {
    clock.sleep(between);
    const std::string path = "/api/v1/actions/" + action->at("id").dump();
    auto again = client::ask_once(daemon, {.path = path}, "schedmate.action.v1", clock);
    if (!again) break;
    action = std::move(again);
  }
  return action;
}

/// "job 7 is submitted".
std::string text_of(const Document& action, const service::Snapshot& snapshot) {
  const std::string job = screen::word(action, "job");
  const std::string copy = snapshot.dir.empty() ? "" : "; it runs in the copy " + snapshot.dir;
  if (!job.empty()) return fmt::format("job {} is submitted{}\n", job, copy);
  return fmt::format("the submission is {} (schedmate actions show {})\n",
                     screen::word(action, "state"), action.value("id", Document()).dump());
}

/// Once a daemon answers, so that nothing is copied in vain.
Result<service::Snapshot> snapshot_of(const CommandCall& call, const SubmitFlags& flags,
                                      const client::DaemonClient& daemon, const std::string& key) {
  if (!flags.snapshot) return service::Snapshot{};
  const auto there = client::ask(daemon, {.path = "/api/v1/jobs?limit=1"}, "schedmate.jobs.v1");
  if (!there) return tl::unexpected(there.error());
  if (auto made = settings::make_state_folder(call.session); !made)
    return tl::unexpected(made.error());
  return service::take_snapshot(call.session.environment, dir_of(flags),
                                {call.session.state_dir() + "/snapshots", key});
}

Result<int> submit(const CommandCall& call, const SubmitFlags& flags) {
  const auto daemon = client::daemon_of(call.session, flags.which);
  if (!daemon) return tl::unexpected(daemon.error());
  const std::string key = flags.key.empty() ? client::new_idempotency_key() : flags.key;
  const auto snapshot = snapshot_of(call, flags, *daemon, key);
  if (!snapshot) return tl::unexpected(snapshot.error());
  const client::Call ask{
      .path = "/api/v1/jobs",
      .changes = true,
      .body = in_one_line(request_of(flags, flags.snapshot ? snapshot->dir : dir_of(flags))),
      .idempotency_key = key};
  const auto action = submitted(*daemon, ask, call.session.clock);
  // A copy that was there is another call's.
  if (!action && snapshot->copied > 0 && is_refusal(action.error()))
    service::drop_snapshot(*snapshot);
  return show(call, action, [&](const Document& shown, const screen::ScreenStyle& /*style*/) {
    return text_of(shown, *snapshot);
  });
}

}  // namespace

Command submit_command(const Parser& parser) {
  const auto flags = std::make_shared<SubmitFlags>();
  CLI::App& command = parser.app;
  constexpr std::int64_t most = 10'000'000;
  takes_whole(
      *command.add_option("--gpus", flags->gpus, "GPUs over all nodes; default: 1")->type_name("N"),
      1, most);
  takes_whole(*command.add_option("--nodes", flags->nodes, "nodes; default: 1")->type_name("N"), 1,
              most);
  command.add_option("--user", flags->user, "for whom, where an operator asks; default: who asks")
      ->type_name("USER");
  command.add_option("--dir", flags->dir, "folder in which it runs; default: this one")
      ->type_name("DIR");
  command.add_flag("--snapshot", flags->snapshot,
                   "let it run in a copy of that folder as it is now, kept in the state folder");
  command.add_option("--name", flags->name, "name of the job")->type_name("NAME");
  command
      .add_option("--partition", flags->partition,
                  "virtual cluster or partition; default: the cluster's")
      ->type_name("P");
  takes_duration(
      *command.add_option("--time-limit", flags->limit_s, "longest run: 90m, 2:00:00, 1-12")
           ->type_name("TIME"));
  command.add_option("--output", flags->output, "file for what it prints")->type_name("FILE");
  command
      .add_option("--key", flags->key,
                  "submissions with an equal key are one; default: one made for this call")
      ->type_name("KEY");
  command.add_option("COMMAND", flags->command, "what runs, after --")->type_name("");
  add_daemon(command, flags->which);
  command.footer("Example:\n  schedmate submit --gpus 8 --dir net -- python train.py --lr 0.1");
  return {[flags](const CommandCall& call) { return submit(call, *flags); },
          [flags] { return need(!flags->command.empty(), "submit", "-- COMMAND"); }};
}

}  // namespace schedmate
