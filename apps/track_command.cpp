// SPDX-License-Identifier: Apache-2.0
#include "apps/track_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <schedmate/progress.hpp>
#include <utility>

#include "apps/command.hpp"
#include "service/log_models.hpp"
#include "base/words.hpp"
#include "settings/clock.hpp"
#include "tree/redact.hpp"

namespace schedmate {
namespace {

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "unknown";
}

std::string of(const std::optional<double>& value, const std::optional<double>& total) {
  return total ? fmt::format("{} of {}", shown(value), shown(total)) : shown(value);
}

std::string progress_text(const Progress& progress) {
  std::string text = fmt::format(
      "step       {}\nepoch      {}\nstep time  {}{}\nloss       {}\n",
      of(progress.step, progress.total_steps), of(progress.epoch, progress.total_epochs),
      shown(progress.step_time_s), progress.step_time_s ? " s" : "", shown(progress.loss));
  if (progress.throughput)
    text += fmt::format("throughput {:.6g} {}\n", progress.throughput->value,
                        progress.throughput->unit);
  text += fmt::format("remaining  {}{}\n", shown(progress.remaining_s),
                      progress.remaining_s ? " s" : "");
  if (!progress.by.empty()) text += fmt::format("by         {}\n", progress.by);
  if (!progress.by_model.empty())
    text += fmt::format("by model   {}\n", fmt::join(progress.by_model, " "));
  for (const auto& line : progress.evidence) text += fmt::format("line       {}\n", line);
  return text;
}

constexpr double shortest_s = 0.01;  ///< between looks

/// The log's reader of unknown lines, where there are models, and what it cost.
struct Asked {
  Models models;
  ModelTally tally;
};

TrackOptions options_of(const Session& session, Asked& asked) {
  return {session.settings.text("rules"), shape_reader(session, asked.models, asked.tally)};
}

bool is_open(const Progress& progress) {
  return !progress.step || !progress.step_time_s || !progress.loss;
}

/// Evidence is shown to people: what looks like a secret is not.
std::string shown(const Session& session, Progress progress, const Asked& asked) {
  for (auto& line : progress.evidence) line = printable(redact(line));
  ModelTally tally = asked.tally;
  if (asked.models.chats.empty() && is_open(progress)) tally.note("model: not asked");
  if (session.json) return with_cost(progress_json(progress), asked.models, tally, -1);
  std::string text = progress_text(progress);
  for (const auto& note : asked.tally.notes) text += fmt::format("note       {}\n", note);
  return text;
}

/// One document for each change, one line each with --json; silence gives nothing.
Result<void> follow(const Session& session, const TrackRequest& request, Asked& asked) {
  auto follower = ProgressFollower::open(request.logs.front(), options_of(session, asked));
  if (!follower) return tl::unexpected(follower.error());
  const Clock& clock = session.clock;
  const auto seconds = [&] { return std::chrono::duration<double>(clock.now()).count(); };
  const double began = seconds();
  std::string last;
  while (true) {
    if (follower->poll(seconds())) {
      auto text = shown(session, follower->now(), asked);
      if (text != last) {
        fmt::print("{}", text);
        if (std::fflush(stdout) != 0) return {};  // nobody reads it any more
        last = std::move(text);
      }
    }
    if (request.for_s >= 0 && seconds() - began >= request.for_s) return {};
    clock.sleep(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::max(shortest_s, request.every_s))));
  }
}

Result<void> check_complete(const TrackRequest& request) {
  if (request.logs.empty())
    return fail(ErrorCode::unsupported, "track: which log? (schedmate track LOG)");
  if (request.follow && request.logs.size() > 1)
    return fail(ErrorCode::unsupported, "track --follow takes one log; start it for each rank");
  return {};
}

}  // namespace

Result<void> run_track(const Session& session, const TrackRequest& request) {
  auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  Asked asked{*std::move(models), {}};
  if (request.follow) return follow(session, request, asked);
  auto progress = track(request.logs, options_of(session, asked));
  if (!progress) return tl::unexpected(progress.error());
  fmt::print("{}", shown(session, std::move(*progress), asked));
  return {};
}

Command track_command(const Parser& parser) {
  const auto request = std::make_shared<TrackRequest>();
  CLI::App& command = parser.app;
  command.add_option("log", request->logs, "one for each rank")->type_name("LOG");
  command.add_flag("--follow", request->follow, "again on every change; nothing on silence");
  command.add_option("--every", request->every_s, "seconds between looks (2)");
  command.add_option("--for", request->for_s, "seconds to follow; else until interrupted");
  add_model(parser);
  command.footer("Example:\n  schedmate track slurm-17.out --follow --json");
  return {[request](const Call& call) { return done(run_track(call.session, *request)); },
          [request] { return check_complete(*request); }};
}

}  // namespace schedmate
