// SPDX-License-Identifier: Apache-2.0

/// `schedmate worker`: answers requests of a Redis server (src/workers).

#include <fmt/format.h>
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "base/output.hpp"
#include "workers/setup.hpp"

namespace schedmate {
namespace {

struct WorkerFlags {
  std::string name;
  std::int64_t threads = 1;
  bool until_empty = false;
};

/// Held back in all threads that begin after this, and asked for by one.
sigset_t hold_ends() {
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGTERM);
  ::sigaddset(&ends, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

/// The first signal asks it to drain, the second one to leave.
std::function<workers::Wish()> wish_of_signals() {
  return [ends = hold_ends(), seen = 0]() mutable {
    const timespec at_once{};
    while (::sigtimedwait(&ends, nullptr, &at_once) > 0) ++seen;
    return seen == 0   ? workers::Wish::go_on
           : seen == 1 ? workers::Wish::drain
                       : workers::Wish::leave;
  };
}

/// What is being done ends with the process: no thread of it can be ended alone.
[[noreturn]] void abandon(const CommandCall& call, const Error& error) {
  const int code = complain(error, call.json, call.console);
  remove_part_files();
  std::_Exit(call.console.finish(code));
}

Document document_of(const std::string& name, const workers::Done& done) {
  return {{"schema", "schedmate.worker.v1"},
          {"worker", name},
          {"results", done.kept},
          {"late", done.late},
          {"given_up", done.given_up}};
}

Result<int> run_worker(const CommandCall& call, const WorkerFlags& flags) {
  auto options = workers::worker_of(call.session, flags.name);
  if (!options) return tl::unexpected(options.error());
  const auto queue = workers::queue_of(call.session);
  if (!queue) return tl::unexpected(queue.error());
  const auto doubts = (*queue)->doubts();
  if (!doubts) return tl::unexpected(doubts.error());
  for (const std::string& each : *doubts) call.console.warn(each);
  options->threads = flags.threads;
  options->until_empty = flags.until_empty;
  options->report = [&call](const std::string& line) { call.console.warn(line); };
  options->wish = wish_of_signals();
  options->abandon = [&call](const Error& error) { abandon(call, error); };
  if (!flags.until_empty)
    call.console.warn(
        fmt::format("worker {} is ready, {} at a time", options->name, options->threads));
  const auto done = workers::run_worker(**queue, workers::deed_of(call.session), *options);
  if (!done) return tl::unexpected(done.error());
  if (call.json)
    call.console.json(document_of(options->name, *done));
  else
    call.console.text(fmt::format("{} results, {} came second, {} given up for another try\n",
                                  done->kept, done->late, done->given_up));
  return 0;
}

}  // namespace

Command worker_command(const Parser& parser) {
  const auto flags = std::make_shared<WorkerFlags>();
  CLI::App& app = parser.app;
  add_setting(parser, "--redis", "workers.redis",
              "server with the requests: redis:HOST:PORT or redis:unix:PATH");
  app.add_option("--id", flags->name, "name of this worker; default: that of the host")
      ->type_name("NAME");
  takes_whole(*app.add_option("--threads", flags->threads, "requests at a time; default: 1")
                   ->type_name("N"),
              1, 256);
  app.add_flag("--until-empty", flags->until_empty, "end when no request waits");
  add_model(parser);
  app.footer(
      "SIGTERM lets it end what it has begun; a second one leaves that to other workers.\n"
      "Requests are put by `schedmate work` (docs/workers.md).\n\nExample:\n"
      "  schedmate worker --redis redis:10.0.0.5:6379 --threads 4");
  return {.run = [flags](const CommandCall& call) { return run_worker(call, *flags); }};
}

}  // namespace schedmate
