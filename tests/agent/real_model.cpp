// SPDX-License-Identifier: Apache-2.0
/// One run of the agent against a real server: real_model URL. Whatever a weak model says, nothing
/// unproven may come out; prints what was asked, accepted and dropped.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "tests/support/small_job.hpp"

namespace {

schedmate::Clock wall_clock() {
  return {.now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
          .sleep = [](std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }};
}

/// The true facts of the small job that a line proves.
bool is_true(const std::string& field, const schedmate::FactValue& value) {
  const auto number = [&](std::int64_t wanted) { return value == schedmate::FactValue(wanted); };
  if (field == "batch_size") return number(48);
  if (field == "length") return value == schedmate::FactValue(schedmate::Length{30, "epochs"});
  return true;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: real_model http://127.0.0.1:PORT/v1\n");
    return 2;
  }
  schedmate::ChatSettings settings;
  settings.url = words[1];
  settings.model = "any";
  schedmate::ChatServices services;
  services.clock = wall_clock();
  services.meter = std::make_shared<schedmate::ChatMeter>();
  const auto chat = schedmate::open_chat(settings, services);
  if (!chat) return 4;
  schedmate::testing::SmallJobTree job;
  schedmate::agent::AgentSettings agent;
  agent.tool_calls = 2;
  agent.answer_tokens = 400;
  const std::vector<schedmate::Chat> models{*chat};
  const auto outcome = schedmate::agent::fill_gaps(job.task(), agent, models, services.clock);
  const auto sums = services.meter->sums();
  fmt::print("{} requests, {} + {} tokens\n", sums.calls, sums.prompt_tokens,
             sums.completion_tokens);
  for (const std::string& note : sums.notes) fmt::print("note: {}\n", note);
  if (!outcome) {
    fmt::print("no answer: {}\n", outcome.error().message);
    return sums.calls > 0 ? 0 : 1;
  }
  fmt::print("{}", schedmate::agent::describe(*outcome));
  for (const auto& [field, fact] : outcome->facts) {
    if (!is_true(field, fact.value)) return 1;
  }
  return 0;
}
