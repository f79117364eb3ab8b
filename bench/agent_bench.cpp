// SPDX-License-Identifier: Apache-2.0
/// How much the checks let through, without the static chain: every field is a gap, the closure is
/// the labelled key files, and the oracle or the liar answers in process.
///   agent_bench CASES TREES oracle|liar [--show]
#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "agent/agent.hpp"
#include "agent/fields.hpp"
#include "bench/fake_llm/answers.hpp"

namespace schedmate::bench {
namespace {

Clock wall_clock() {
  return {.now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
          .sleep = [](std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }};
}

using Moment = std::chrono::steady_clock;

double seconds_since(Moment::time_point start) {
  return std::chrono::duration<double>(Moment::now() - start).count();
}

/// `thinking` collects the stand-in's own time, which is none of the agent's.
Chat chat_with(Witnesses& witnesses, double& thinking) {
  return [&](const ChatRequest& request) -> Result<ChatReply> {
    testing::FakeCall call{
        .path = {}, .body = {}, .authorization = {}, .schema = request.json_schema, .texts = {}};
    for (const ChatMessage& message : request.messages) call.texts.push_back(message.text);
    const auto start = Moment::now();
    std::string text = witnesses.answer(call);
    thinking += seconds_since(start);
    return ChatReply{.text = std::move(text),
                     .prompt_tokens = 1000,
                     .completion_tokens = 100,
                     .model = "in process",
                     .finish_reason = "stop"};
  };
}

struct Sums {
  std::map<std::string, int> accepted;
  std::map<std::string, int> dropped;
  double seconds = 0;
};

void run(const LabelledJob& labelled, Witnesses& witnesses, bool show, Sums& sums) {
  auto tree = tree::Tree::open(labelled.tree);
  if (!tree) return;
  JobSource job;
  job.root = labelled.tree;
  job.command = labelled.command;
  job.gpus = 8;
  Facts found;
  found.files_read = labelled.key_files;
  const agent::AgentTask task{
      .job = job, .tree = *tree, .found = found, .log = {}, .monitoring = {}};
  double thinking = 0;
  const std::vector<Chat> models{chat_with(witnesses, thinking)};
  const auto start = Moment::now();
  const auto outcome = agent::fill_gaps(task, {}, models, wall_clock());
  sums.seconds += seconds_since(start) - thinking;
  if (!outcome) return;
  for (const auto& [field, fact] : outcome->facts) {
    ++sums.accepted[field];
    if (!show) continue;
    fmt::print("{:24} + {:14} {:24} {}:{} {}\n", labelled.id, field, agent::shown(fact.value),
               fact.evidence[0].file, fact.evidence[0].line, fact.evidence[0].text);
  }
  for (const agent::DroppedClaim& one : outcome->dropped) {
    ++sums.dropped[one.claim.field + ": " + one.why];
    if (!show) continue;
    fmt::print("{:24} - {:14} {:24} {}:{} {}\n", labelled.id, one.claim.field,
               agent::shown(one.claim.value), one.claim.file, one.claim.line, one.why);
  }
}

}  // namespace
}  // namespace schedmate::bench

int main(int count, char** words) {
  if (count < 4) {
    fmt::print(stderr, "usage: agent_bench CASES TREES oracle|liar [--show]\n");
    return 2;
  }
  const auto jobs = schedmate::bench::read_jobs(words[1], words[2]);
  schedmate::bench::Witnesses witnesses(jobs, std::string_view(words[3]) == "liar");
  schedmate::bench::Sums sums;
  for (const auto& job : jobs) schedmate::bench::run(job, witnesses, count > 4, sums);
  for (const auto& [what, times] : sums.accepted) fmt::print("accepted {:4} {}\n", times, what);
  for (const auto& [what, times] : sums.dropped) fmt::print("dropped  {:4} {}\n", times, what);
  const auto totals = witnesses.totals();
  fmt::print("{} jobs, {} requests, {} values given, {} without a line, {:.1f} ms a job\n",
             jobs.size(), totals.requests, totals.claims, totals.without_line,
             1000 * sums.seconds / static_cast<double>(std::max<std::size_t>(jobs.size(), 1)));
  return 0;
}
