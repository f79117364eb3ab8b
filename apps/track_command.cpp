// SPDX-License-Identifier: Apache-2.0

/// `schedmate track`: how far a running job is, by its logs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "base/words.hpp"
#include "screen/live_jobs_text.hpp"
#include "screen/progress_text.hpp"
#include "service/track.hpp"

namespace schedmate {
namespace {

struct TrackFlags {
  std::vector<std::string> logs;  ///< of the job's ranks
  bool follow = false;
  double every_s = 2;
  double for_s = -1;
  std::string min_confidence;
  client::WhichDaemon which;
};

std::string shown(const service::TrackAnswer& answer, bool json) {
  if (json) return in_one_line(service::track_document(answer)) + "\n";
  std::string text = screen::progress_text(answer.progress);
  for (const auto& note : answer.notes) text += fmt::format("note       {}\n", printable(note));
  return text;
}

void print(const CommandCall& call, std::string_view text) {
  if (call.json)
    call.console.verbatim(text);
  else
    call.console.text(text);
}

/// One document for each change, one line each with --json; silence gives nothing.
Result<void> follow(const CommandCall& call, const TrackFlags& flags) {
  std::string last;
  const auto show = [&](const service::TrackAnswer& answer) {
    auto text = shown(answer, call.json);
    if (text == last) return true;
    print(call, text);
    last = std::move(text);
    return call.console.flush();  // else nobody reads it any more
  };
  return service::follow(
      call.session, {flags.logs.front(), flags.every_s, flags.for_s, flags.min_confidence}, show);
}

/// Of a job id, where a daemon knows it. Errors: not_found where there is no such file, either.
Result<bool> track_job(const CommandCall& call, const TrackFlags& flags) {
  const std::string& word = flags.logs.front();
  const auto job = flags.logs.size() == 1 ? job_of_daemon(call, flags.which, word)
                                          : Result<DaemonsWord>(DaemonsWord());
  if (!job) return tl::unexpected(job.error());
  if (!job->document) {
    if (!client::may_be_job_id(word) || word.contains('.')) return false;
    const char* const none =
        job->denial.empty() ? ", and no daemon runs here that knows a job of this id" : "";
    return tl::unexpected(behind(
        *job, {ErrorCode::not_found, fmt::format("track: no file '{}' here{}", word, none)}));
  }
  if (flags.follow)
    return fail(ErrorCode::unsupported,
                "track --follow takes a log file; of jobs: schedmate watch");
  if (!flags.min_confidence.empty())
    return fail(ErrorCode::unsupported,
                "track --min-confidence takes a log; of a daemon's job: schedmate job ID");
  return show_part(call, *job->document, "progress", screen::live_progress_text(*job->document))
      .map([](int) { return true; });
}

Result<void> run_track(const CommandCall& call, const TrackFlags& flags) {
  const auto told = track_job(call, flags);
  if (!told) return tl::unexpected(told.error());
  if (*told) return {};
  if (flags.follow) return follow(call, flags);
  const auto answer = service::track(call.session, {flags.logs, flags.min_confidence});
  if (!answer) return tl::unexpected(answer.error());
  print(call, shown(*answer, call.json));
  return {};
}

Result<void> check_complete(const TrackFlags& flags) {
  if (flags.logs.empty())
    return fail(ErrorCode::unsupported, "track: LOG is missing (schedmate track LOG)");
  if (!flags.which.address.empty() && flags.logs.size() > 1)
    return fail(ErrorCode::unsupported, "track: --address asks a daemon about one job id");
  if (flags.follow && flags.logs.front() == "-")
    return fail(
        ErrorCode::unsupported,
        "track --follow takes a log file, since it reads what is added to it; - is read once");
  if (flags.follow && flags.logs.size() > 1)
    return fail(ErrorCode::unsupported,
                "track --follow takes only one log; run it once for each rank");
  return {};
}

}  // namespace

Command track_command(const Parser& parser) {
  const auto flags = std::make_shared<TrackFlags>();
  CLI::App& command = parser.app;
  command
      .add_option("log", flags->logs,
                  "log file, or - for a pipe; one for each rank; or a job id of a daemon")
      ->type_name("LOG|JOB");
  command.add_flag("--follow", flags->follow, "print again whenever something changes");
  constexpr double longest_pause_s = 86'400;
  takes_number(*command.add_option("--every", flags->every_s, "seconds between checks; default: 2")
                    ->type_name("SECONDS"),
               0, longest_pause_s);
  takes_duration(*command
                      .add_option("--for", flags->for_s,
                                  "how long to follow: seconds, or 90m, 2:00:00; default: until "
                                  "interrupted")
                      ->type_name("TIME"));
  command
      .add_option("--min-confidence", flags->min_confidence,
                  "leave out values that are less sure; auto: 97 % of what is left is right; "
                  "default: all are shown")
      ->type_name("P|auto");
  add_model(parser);
  add_optional_daemon(command, flags->which);
  command.footer("Example:\n  schedmate track slurm-17.out --follow --json");
  return {[flags](const CommandCall& call) { return done(run_track(call, *flags)); },
          [flags] { return check_complete(*flags); }};
}

}  // namespace schedmate
