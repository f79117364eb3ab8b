// SPDX-License-Identifier: Apache-2.0
/// A chat server for issue 7.3: answers for labelled jobs rightly or wrongly.
///   fake_llm_server --mode oracle|liar --cases jobs.jsonl --trees DIR [--port N]
/// Prints its url, serves until SIGINT or SIGTERM, then prints what it answered.
#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <map>

#include "bench/fake_llm/answers.hpp"

namespace {

using schedmate::bench::Witnesses;

int usage() {
  fmt::print(stderr,
             "usage: fake_llm_server --mode oracle|liar --cases JSONL --trees DIR [--port N]\n");
  return 2;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> flags{{"--port", "18090"}};
  for (int i = 1; i + 1 < count; i += 2) flags[words[i]] = words[i + 1];
  const std::string& mode = flags["--mode"];
  if (count % 2 == 0 || (mode != "oracle" && mode != "liar")) return usage();
  auto jobs = schedmate::bench::read_jobs(flags["--cases"], flags["--trees"]);
  if (jobs.empty()) {
    fmt::print(stderr, "no labelled jobs in '{}'\n", flags["--cases"]);
    return 3;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before the server starts its threads
  Witnesses witnesses(std::move(jobs), mode == "liar");
  const schedmate::testing::FakeLlm server(
      schedmate::testing::like_vllm(
          [&](const schedmate::testing::FakeCall& call) { return witnesses.answer(call); }),
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
  fmt::print("{} requests, {} values given, {} without a line, {} unknown jobs\n", totals.requests,
             totals.claims, totals.without_line, totals.unknown_jobs);
  return 0;
}
