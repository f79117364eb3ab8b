// SPDX-License-Identifier: Apache-2.0

/// `schedmate work`: requests for workers (`schedmate worker`), and their results.

#include "apps/work_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "base/error_document.hpp"
#include "base/text.hpp"
#include "http/metrics.hpp"
#include "settings/identity.hpp"
#include "workers/request.hpp"
#include "workers/setup.hpp"

namespace schedmate {
namespace {

constexpr std::array<std::string_view, 6> work_deeds{"advise", "diagnose", "get",
                                                     "status", "dead",     "retry"};

struct WorkFlags {
  std::string deed;
  std::vector<std::string> of;  ///< DIR, LOG... or ID
  reader::Request request;
  std::string id;
  std::int64_t wait_s = 0;
  bool metrics = false;
};

/// Whoever asks, as the system names him.
std::string own_name() {
  const std::string name = settings::name_of(::geteuid());
  return name.empty() ? fmt::format("{}", ::geteuid()) : name;
}

/// A worker on another machine starts elsewhere.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto made = std::filesystem::absolute(path, error).lexically_normal().string();
  return error                                    ? path
         : made.size() > 1 && made.ends_with('/') ? made.substr(0, made.size() - 1)
                                                  : made;
}

/// Exit code 0: there is a result; 1: not yet; else that of the error which the result is.
Result<int> show_status(const CommandCall& call, const std::string& id,
                        const workers::Status& status) {
  if (status.state == workers::State::unknown)
    return fail(ErrorCode::not_found,
                fmt::format("there is no operation {}, or its result is no longer kept", id));
  const auto result = workers::result_of(status);
  if (call.json)
    call.console.json(workers::status_document(id, status, result));
  else if (!result)
    call.console.text(fmt::format("{}: {}\n", id, workers::name_of(status.state)));
  else if (*result)
    call.console.json(**result);
  if (!result) return 1;
  if (*result) return 0;
  if (!call.json) return tl::unexpected(result->error());
  return exit_code(result->error().code);
}

Result<int> get(const CommandCall& call, workers::Queue& queue, const std::string& id,
                std::int64_t wait_s) {
  const auto end = call.session.clock.now() + std::chrono::seconds(wait_s);
  auto pause = std::chrono::milliseconds(20);
  for (;;) {
    const auto status = queue.look(id);
    if (!status) return tl::unexpected(status.error());
    const bool waits =
        status->state == workers::State::waiting || status->state == workers::State::running;
    if (!waits || call.session.clock.now() >= end) return show_status(call, id, *status);
    call.session.clock.sleep(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(500));
  }
}

Result<int> put(const CommandCall& call, workers::Queue& queue, const WorkFlags& flags) {
  reader::Request request = flags.request;
  request.what = flags.deed == "advise" ? reader::What::advise : reader::What::diagnose;
  if (request.user.empty()) request.user = own_name();
  if (request.what == reader::What::advise)
    request.dir = absolute(flags.of.front());
  else
    std::ranges::transform(flags.of, std::back_inserter(request.logs), absolute);
  const auto salt =
      fmt::format("{}\n{}\n{}\n{}", call.session.environment.host, ::getpid(),
                  seconds_of(call.session.clock.wall()), call.session.clock.now().count());
  const auto operation = workers::operation_of(request, flags.id, salt);
  if (!operation) return tl::unexpected(operation.error());
  const auto done = queue.put(*operation);
  if (!done) return tl::unexpected(done.error());
  if (flags.wait_s > 0) return get(call, queue, operation->id, flags.wait_s);
  const bool there = *done == workers::Put::there;
  if (call.json)
    call.console.json(
        {{"schema", "schedmate.work.put.v1"}, {"id", operation->id}, {"was_there", there}});
  else
    call.console.text(operation->id + "\n");
  return 0;
}

/// As in /metrics of the daemon.
std::string metrics_text(const workers::Figures& figures) {
  const auto value = [&](const char* name) {
    const auto found = figures.find(name);
    return found == figures.end() ? 0.0 : static_cast<double>(found->second);
  };
  using enum http::MetricKind;
  const std::vector<http::Metric> metrics{
      {"schedmate_work_waiting",
       "Requests that wait for a worker.",
       gauge,
       "priority",
       {{"urgent", value("waiting_urgent")}, {"usual", value("waiting_usual")}}},
      {"schedmate_work_running",
       "Requests that workers hold.",
       gauge,
       "",
       {{"", value("running")}}},
      {"schedmate_work_workers",
       "Workers heard of within the lease.",
       gauge,
       "",
       {{"", value("workers")}}},
      {"schedmate_work_dead", "Requests that were put aside.", gauge, "", {{"", value("dead")}}},
      {"schedmate_work_total",
       "Requests by what became of them: refused ones found the queue full, late ones are second "
       "results, which were not kept.",
       counter,
       "event",
       {{"put", value("put")},
        {"refused", value("refused")},
        {"claimed", value("claimed")},
        {"redelivered", value("redelivered")},
        {"done", value("done")},
        {"late", value("late")},
        {"buried", value("buried")}}}};
  return http::prometheus_text(metrics);
}

Result<int> show_figures(const CommandCall& call, workers::Queue& queue, bool metrics) {
  const auto figures = queue.figures();
  if (!figures) return tl::unexpected(figures.error());
  const auto doubts = queue.doubts();
  if (!doubts) return tl::unexpected(doubts.error());
  if (metrics) {
    call.console.verbatim(metrics_text(*figures));
    return 0;
  }
  for (const std::string& each : *doubts) call.console.warn(each);
  if (call.json) {
    call.console.json({{"schema", "schedmate.work.status.v1"}, {"figures", *figures}});
    return 0;
  }
  std::string text;
  for (const char* const name :
       {"workers", "running", "waiting_urgent", "waiting_usual", "dead", "put", "refused",
        "claimed", "redelivered", "done", "late", "buried"}) {
    const auto found = figures->find(name);
    text += fmt::format("{:<15}{:>10}\n", name, found == figures->end() ? 0 : found->second);
  }
  call.console.text(text);
  return 0;
}

Result<int> show_dead(const CommandCall& call, workers::Queue& queue) {
  const auto ids = queue.dead();
  if (!ids) return tl::unexpected(ids.error());
  Document list = Document::array();
  std::string text;
  for (const std::string& id : *ids) {
    const auto status = queue.look(id);
    if (!status) return tl::unexpected(status.error());
    if (status->state != workers::State::dead) continue;  // no longer kept
    const auto result = workers::result_of(*status);
    text += fmt::format("{}  {}\n", id, *result ? "" : result->error().message);
    list.push_back(workers::status_document(id, *status, result));
  }
  if (call.json)
    call.console.json({{"schema", "schedmate.work.dead.v1"}, {"operations", std::move(list)}});
  else
    call.console.text(text.empty() ? "none\n" : text);
  return 0;
}

Result<int> retry(const CommandCall& call, workers::Queue& queue, const std::string& id) {
  if (const auto done = queue.revive(id); !done) return tl::unexpected(done.error());
  if (call.json)
    call.console.json({{"schema", "schedmate.work.put.v1"}, {"id", id}, {"was_there", true}});
  else
    call.console.text(id + "\n");
  return 0;
}

Result<int> run_work(const CommandCall& call, const WorkFlags& flags) {
  const auto queue = workers::queue_of(call.session);
  if (!queue) return tl::unexpected(queue.error());
  if (flags.deed == "get") return get(call, **queue, flags.of.front(), flags.wait_s);
  if (flags.deed == "status") return show_figures(call, **queue, flags.metrics);
  if (flags.deed == "dead") return show_dead(call, **queue);
  if (flags.deed == "retry") return retry(call, **queue, flags.of.front());
  return put(call, **queue, flags);
}

bool takes(std::string_view deeds_of_flag, const std::string& deed) {
  const auto names = split(deeds_of_flag, ' ');
  return std::ranges::find(names, deed) != names.end();
}

/// Flags of one action that another one does not take.
Result<void> check_flags(const CLI::App& command, const WorkFlags& flags) {
  struct Of {
    std::string_view deeds;
    std::vector<const char*> flags;
  };
  const std::array rows{Of{"advise",
                           {"--command", "--workdir", "--gpus", "--nodes", "--gpu-type", "--branch",
                            "--partition", "--time-limit"}},
                        Of{"advise diagnose", {"--user", "--op"}},
                        Of{"advise diagnose get", {"--wait"}}, Of{"status", {"--metrics"}}};
  for (const Of& row : rows)
    for (const char* const flag : row.flags)
      if (command.count(flag) > 0 && !takes(row.deeds, flags.deed))
        return fail(ErrorCode::unsupported, fmt::format("work {}: takes no {}", flags.deed, flag));
  return {};
}

Result<void> check_work(const CLI::App& command, const WorkFlags& flags) {
  if (flags.deed.empty())
    return need(false, "work", "advise, diagnose, get, status, dead or retry");
  if (std::ranges::find(work_deeds, flags.deed) == work_deeds.end())
    return fail(ErrorCode::not_found, unknown_name("action", flags.deed, work_deeds));
  if (auto ok = check_flags(command, flags); !ok) return ok;
  const std::string asks = "work " + flags.deed;
  const bool takes_none = flags.deed == "status" || flags.deed == "dead";
  if (takes_none && !flags.of.empty())
    return fail(ErrorCode::unsupported, asks + ": takes nothing more");
  if (takes_none) return {};
  const char* const what = flags.deed == "advise" ? "DIR" : flags.deed == "diagnose" ? "LOG" : "ID";
  if (auto ok = need(!flags.of.empty(), asks, what); !ok) return ok;
  if (flags.deed != "diagnose" && flags.of.size() > 1)
    return fail(ErrorCode::unsupported, fmt::format("{}: takes one {}", asks, what));
  return need(flags.deed != "advise" || !flags.request.command.empty(), asks, "--command");
}

void add_job_flags(CLI::App& command, reader::Request& request) {
  command.add_option("--command", request.command, "advise: command that starts the job")
      ->type_name("C");
  command.add_option("--workdir", request.workdir, "advise: folder in DIR where it runs")
      ->type_name("W");
  takes_whole(*command.add_option("--gpus", request.gpus, "advise: GPUs")->type_name("N"), 0);
  takes_whole(*command.add_option("--nodes", request.nodes, "advise: nodes")->type_name("N"), 0);
  command.add_option("--gpu-type", request.gpu_type, "advise: type of the GPUs")->type_name("T");
  command.add_option("--branch", request.branch, "advise: branch of the repository")
      ->type_name("B");
  command.add_option("--partition", request.partition, "advise: partition")->type_name("P");
  takes_time_limit(*command
                        .add_option("--time-limit", request.time_limit_s,
                                    "advise: seconds, or 90m, 2:00:00, 1-12:00:00")
                        ->type_name("TIME"));
  command
      .add_option("--user", request.user,
                  "advise, diagnose: whose rights it is read with; default: yourself")
      ->type_name("U");
}

}  // namespace

std::vector<std::string> work_actions() { return {work_deeds.begin(), work_deeds.end()}; }

Command work_command(const Parser& parser) {
  const auto flags = std::make_shared<WorkFlags>();
  CLI::App& command = parser.app;
  command.add_option("action", flags->deed, "advise, diagnose, get, status, dead or retry")
      ->type_name("WORKACTION");
  command.add_option("of", flags->of, "advise: DIR; diagnose: LOG...; get, retry: ID")
      ->type_name("DIR|LOG|ID");
  add_setting(parser, "--redis", "workers.redis",
              "server with the requests: redis:HOST:PORT or redis:unix:PATH");
  add_job_flags(command, flags->request);
  command
      .add_option("--op", flags->id,
                  "advise, diagnose: id of the operation: put twice, it is done once")
      ->type_name("ID");
  takes_whole(*command
                   .add_option("--wait", flags->wait_s,
                               "advise, diagnose, get: wait so long for the result")
                   ->type_name("SECONDS"),
              0, 86'400);
  command.add_flag("--metrics", flags->metrics, "status: as text for Prometheus");
  command.footer(
      "The result is the document that the command of that name gives with --json. Exit codes: 1 "
      "= there\nis none yet; those of an error that the result is.\n\nExamples:\n"
      "  schedmate work advise . --command 'python train.py' --redis redis:10.0.0.5:6379\n"
      "  schedmate work diagnose slurm-17.out --op job-17 --wait 60\n"
      "  schedmate work get job-17 --json");
  return {.run = [flags](const CommandCall& call) { return run_work(call, *flags); },
          .check = [&command, flags] { return check_work(command, *flags); }};
}

}  // namespace schedmate
