// SPDX-License-Identifier: Apache-2.0
/// A chat server whose model answers for labelled jobs and logs, rightly or wrongly.
///   fake_llm_server --mode oracle|liar [--cases jobs.jsonl --trees DIR] [--progress JSONL]
///                   [--failures JSONL] [--port N]
/// Prints its url, serves until SIGINT or SIGTERM, then prints what it answered.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "bench/fake_llm/answers.hpp"
#include "bench/fake_llm/log_answers.hpp"

namespace {

using schedmate::bench::LogWitnesses;
using schedmate::bench::Witnesses;

int usage() {
  fmt::print(stderr,
             "usage: fake_llm_server --mode oracle|liar [--cases JSONL --trees DIR] "
             "[--progress JSONL] [--failures JSONL] [--port N]\n");
  return 2;
}

/// Blocked before the server starts its threads.
sigset_t block_ends() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> flags{{"--port", "18090"}};
  for (int i = 1; i + 1 < count; i += 2) flags[words[i]] = words[i + 1];
  const std::string& mode = flags["--mode"];
  if (count % 2 == 0 || (mode != "oracle" && mode != "liar")) return usage();
  auto jobs = schedmate::bench::read_jobs(flags["--cases"], flags["--trees"]);
  auto logs = schedmate::bench::read_logs(flags["--progress"]);
  std::ranges::move(schedmate::bench::read_logs(flags["--failures"]), std::back_inserter(logs));
  if (jobs.empty() && logs.empty()) {
    fmt::print(stderr, "neither labelled jobs nor labelled logs were named\n");
    return 3;
  }
  const sigset_t ends = block_ends();
  const bool about_logs = jobs.empty();
  Witnesses witnesses(std::move(jobs), mode == "liar");
  LogWitnesses log_witnesses(std::move(logs), mode == "liar");
  const schedmate::testing::FakeLlm server(
      schedmate::testing::like_vllm([&](const schedmate::testing::FakeCall& call) {
        return about_logs ? log_witnesses.answer(call) : witnesses.answer(call);
      }),
      std::atoi(flags["--port"].c_str()));
  if (server.port() <= 0) {
    fmt::print(stderr, "port {} is taken\n", flags["--port"]);
    return 4;
  }
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ends, &signal);
  const auto totals = witnesses.totals();
  const auto of_logs = log_witnesses.totals();
  if (about_logs)
    fmt::print("{} shapes, {} causes, {} values given, {} unknown logs\n", of_logs.shapes,
               of_logs.causes, of_logs.claims, of_logs.unknown);
  else
    fmt::print("{} requests, {} values given, {} without a line, {} unknown jobs\n",
               totals.requests, totals.claims, totals.without_line, totals.unknown_jobs);
  return 0;
}
