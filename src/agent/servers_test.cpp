// SPDX-License-Identifier: Apache-2.0
/// The agent over HTTP, with servers that behave as the real ones do (docs/llm.md).
#include <doctest/doctest.h>

#include <chrono>

#include "agent/agent.hpp"
#include "tests/support/fake_llm.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/small_job.hpp"

namespace schedmate::agent {
namespace {

using testing::FakeCall;
using testing::FakeLlm;

/// Looks once, then answers.
std::string model(const FakeCall& call) {
  if (call.texts.size() < 3) {
    return R"({"thought": "t", "action": {"tool": "file_read", "path": "conf.yaml", "from": 0,)"
           R"( "to": 0, "query": ""}, "answer": null})";
  }
  return R"({"thought": "t", "action": null, "answer": {"optimizer": {"value": "AdamW",)"
         R"( "file": "conf.yaml", "line": 6}, "extra": []}})";
}

struct Served {
  AgentOutcome outcome;
  ChatMeter::Sums sums;
  std::vector<FakeCall> calls;
};

Served serve(const testing::FakeAnswer& answer) {
  testing::SmallJobTree job;
  const FakeLlm server(answer);
  ChatSettings settings;
  settings.url = server.url();
  settings.token_env = "TOKEN";
  ChatServices services;
  services.clock = testing::sleepless_clock();
  services.environment = [](std::string_view) { return std::string("t0ken-of-the-lab"); };
  services.meter = std::make_shared<ChatMeter>();
  const auto chat = open_chat(settings, services);
  REQUIRE(chat);
  const std::vector<Chat> models{*chat};
  const auto outcome = fill_gaps(job.task(), {}, models, services.clock);
  REQUIRE_MESSAGE(outcome, outcome.error().message);
  return {*outcome, services.meter->sums(), server.calls()};
}

void check(const Served& served) {
  CHECK(served.outcome.accepted == 1);
  CHECK(served.outcome.tool_calls == 1);
  CHECK(served.outcome.facts.contains("optimizer"));
}

}  // namespace

TEST_CASE("a server that binds output to the schema") {
  const Served served = serve(testing::like_vllm(model));
  check(served);
  CHECK(served.sums.notes.empty());
  check(serve(testing::like_llama_server(model)));
}

TEST_CASE("a server that ignores the schema and chats around its JSON") {
  const Served served = serve(testing::like_old_ollama(model));
  check(served);
  CHECK(served.sums.notes.size() == 1);
}

TEST_CASE("a gateway that wants a token, refuses schemas and asks for pauses") {
  const Served served = serve(testing::like_gateway(model, "t0ken-of-the-lab"));
  check(served);
  CHECK(served.sums.retries > 0);
  CHECK(served.calls.back().schema.empty());
}

}  // namespace schedmate::agent
