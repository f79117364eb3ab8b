// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <thread>

#include "llm/exchange.hpp"
#include "tests/support/fake_llm.hpp"
#include "tests/support/fixed_clock.hpp"

namespace schedmate::llm {
namespace {

using std::chrono::milliseconds;
using testing::chat_reply;
using testing::FakeCall;
using testing::FakeLlm;
using testing::FakeReply;

ChatServices test_services() {
  ChatServices services;
  services.clock = testing::sleepless_clock();
  services.environment = [](std::string_view name) {
    return std::string(name == "FAKE_TOKEN" ? "s3cret-token" : "");
  };
  services.meter = std::make_shared<ChatMeter>();
  services.clock.wall = [] { return at(0); };
  services.user = "ada";
  return services;
}

ChatSettings settings_for(const FakeLlm& server) {
  ChatSettings settings;
  settings.name = "test";
  settings.url = server.url();
  settings.model = "m";
  return settings;
}

ChatRequest question(std::string schema = {}) {
  return {.system = "Task.",
          .tools = "Tools.",
          .messages = {{.from_model = false, .text = "Question"}},
          .json_schema = std::move(schema),
          .patience = milliseconds(20'000)};
}

constexpr const char* answer_schema =
    R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}})";

Result<ChatReply> ask(const testing::FakeAnswer& answer, const ChatRequest& request) {
  const FakeLlm server(answer);
  const auto chat = open_chat(settings_for(server), test_services());
  REQUIRE(chat);
  return (*chat)(request);
}

ErrorCode code_for(FakeReply reply) {
  const auto got = ask([&](const FakeCall&) { return reply; }, question());
  REQUIRE_FALSE(got);
  CHECK(got.error().message.size() > 10);
  return got.error().code;
}

FakeReply with_status(int status, std::string body = R"({"error":{"message":"no"}})") {
  return {.status = status, .body = std::move(body)};
}

std::string echo(const FakeCall&) { return R"({"a": 1, "b": 2})"; }

}  // namespace

TEST_CASE("a plain answer comes back with its counts") {
  const auto reply = ask([](const FakeCall&) { return chat_reply("hello"); }, question());
  REQUIRE(reply);
  CHECK(reply->text == "hello");
  CHECK(reply->prompt_tokens == 100);
  CHECK(reply->completion_tokens == 10);
  CHECK(reply->model == "fake-1");
  CHECK(reply->finish_reason == "stop");
}

TEST_CASE("the system text and the tools come first, then the messages in turn") {
  const FakeLlm server([](const FakeCall&) { return chat_reply("x"); });
  const auto chat = open_chat(settings_for(server), test_services());
  REQUIRE(chat);
  auto request = question();
  request.messages.push_back({.from_model = true, .text = "thought"});
  REQUIRE((*chat)(request));
  REQUIRE(server.calls().size() == 1);
  CHECK(server.calls()[0].path == "/v1/chat/completions");
  CHECK(server.calls()[0].texts ==
        std::vector<std::string>{"Task.\n\nTools.", "Question", "thought"});
}

TEST_CASE("an answer that cannot be recorded is paid for") {
  const FakeLlm server([](const FakeCall&) { return chat_reply("hello"); });
  auto settings = settings_for(server);
  settings.kind = "record";
  settings.recording = "/nowhere/at/all.jsonl";
  auto services = test_services();
  services.ledger = memory_ledger();
  const auto chat = open_chat(settings, services);
  REQUIRE(chat);
  CHECK((*chat)(question()).error().code == ErrorCode::unavailable);
  CHECK(services.ledger->spent("1970-01-01", "ada").value() == 110);
}

TEST_CASE("each way to fail has its code") {
  CHECK(code_for(with_status(401)) == ErrorCode::refused);
  CHECK(code_for(with_status(403)) == ErrorCode::refused);
  CHECK(code_for(with_status(404)) == ErrorCode::not_found);
  CHECK(code_for(with_status(422)) == ErrorCode::invalid);
  CHECK(code_for(with_status(429)) == ErrorCode::unavailable);
  CHECK(code_for(with_status(429, R"({"error":{"code":"insufficient_quota"}})")) ==
        ErrorCode::refused);
  CHECK(code_for(with_status(500, "oops")) == ErrorCode::unavailable);
  CHECK(code_for(with_status(503)) == ErrorCode::unavailable);
  CHECK(code_for(with_status(204, "")) == ErrorCode::bad_reply);
  CHECK(code_for(with_status(200, "{\"choices\": [")) == ErrorCode::bad_reply);
  CHECK(code_for(with_status(200, "[]")) == ErrorCode::bad_reply);
  CHECK(code_for(with_status(200, R"({"choices": []})")) == ErrorCode::bad_reply);
  CHECK(code_for(with_status(200, R"({"choices": [{"message": {"content": null}}]})")) ==
        ErrorCode::bad_reply);
  CHECK(code_for(with_status(200, "{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}")) ==
        ErrorCode::bad_reply);
  FakeReply page = with_status(200, "<html>log in</html>");
  page.content_type = "text/html";
  CHECK(code_for(page) == ErrorCode::bad_reply);
  FakeReply elsewhere = with_status(302);
  elsewhere.headers["Location"] = "http://127.0.0.1:1/v1/chat/completions";
  CHECK(code_for(elsewhere) == ErrorCode::refused);
}

TEST_CASE("a prompt beyond the context is a conflict, in the words of each server") {
  for (const auto& server :
       {testing::like_vllm(echo, 100), testing::like_llama_server(echo, 100)}) {
    const auto got = ask(server, question());
    REQUIRE_FALSE(got);
    CHECK(got.error().code == ErrorCode::conflict);
  }
}

TEST_CASE("an answer that was cut off says so") {
  const auto got =
      ask([](const FakeCall&) { return chat_reply("{\"a\": ", "length"); }, question());
  REQUIRE(got);
  CHECK(got->finish_reason == "length");
}

TEST_CASE("a dripping server is cut at the deadline") {
  FakeReply drip = chat_reply(std::string(5000, 'x'));
  drip.per_byte = milliseconds(20);
  auto request = question();
  request.patience = milliseconds(300);
  const auto got = ask([&](const FakeCall&) { return drip; }, request);
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::timeout);
}

TEST_CASE("a huge answer is not kept") {
  CHECK(code_for(chat_reply(std::string(3 << 20, 'x'))) == ErrorCode::bad_reply);
}

TEST_CASE("where nobody listens the server is unavailable") {
  ChatSettings settings;
  settings.url = "http://127.0.0.1:9/v1";
  const auto chat = open_chat(settings, test_services());
  REQUIRE(chat);
  const auto got = (*chat)(question());
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::unavailable);
}

TEST_CASE("servers that bind, ignore or refuse the schema all give an answer") {
  const auto try_with = [](const testing::FakeAnswer& answer, ChatSettings settings = {}) {
    const FakeLlm server(answer);
    settings.url = server.url();
    const auto services = test_services();
    const auto chat = open_chat(settings, services);
    REQUIRE(chat);
    const auto reply = (*chat)(question(answer_schema));
    REQUIRE_MESSAGE(reply, reply.error().message);
    CHECK(reply->text.find(R"({"a": 1, "b": 2})") != std::string::npos);
    return std::pair(services.meter->sums(), server.calls());
  };
  SUBCASE("bound: the schema is sent and not repeated in words") {
    const auto [sums, calls] = try_with(testing::like_vllm(echo));
    CHECK(sums.notes.empty());
    CHECK(calls.size() == 2);
    CHECK(calls[1].texts[0].find("JSON schema") == std::string::npos);
    CHECK_FALSE(calls[1].schema.empty());
  }
  SUBCASE("ignored: noticed, and sent as text") {
    const auto [sums, calls] = try_with(testing::like_old_ollama(echo));
    CHECK(sums.notes.size() == 1);
    CHECK(calls[1].texts[0].find(answer_schema) != std::string::npos);
  }
  SUBCASE("refused: sent as text only; the token and the pause are kept to") {
    ChatSettings settings;
    settings.token_env = "FAKE_TOKEN";
    const auto [sums, calls] = try_with(testing::like_gateway(echo, "s3cret-token"), settings);
    CHECK(sums.notes.size() == 1);
    CHECK(sums.retries == 2);
    CHECK(calls.back().schema.empty());
  }
}

TEST_CASE("a schema that the server cannot convert is sent as text") {
  const FakeLlm server(testing::like_llama_server(echo));
  const auto chat = open_chat(settings_for(server), test_services());
  REQUIRE(chat);
  const auto reply = (*chat)(question(R"({"$ref": "#/nowhere"})"));
  REQUIRE(reply);
  CHECK(server.calls().back().schema.empty());
}

TEST_CASE("a token that the server repeats does not reach the message") {
  const FakeLlm server([](const FakeCall& call) {
    return FakeReply{.status = 401, .body = "bad " + call.authorization};
  });
  auto settings = settings_for(server);
  settings.token_env = "FAKE_TOKEN";
  const auto chat = open_chat(settings, test_services());
  REQUIRE(chat);
  const auto got = (*chat)(question());
  REQUIRE_FALSE(got);
  CHECK(server.calls()[0].authorization == "Bearer s3cret-token");
  CHECK(got.error().message.find("s3cret") == std::string::npos);
}

TEST_CASE("settings that cannot work are refused before anything is sent") {
  const auto code = [](const ChatSettings& settings) {
    const auto chat = open_chat(settings, test_services());
    REQUIRE_FALSE(chat);
    return chat.error().code;
  };
  CHECK(code({.url = "ftp://host/v1"}) == ErrorCode::invalid);
  CHECK(code({.url = "http://"}) == ErrorCode::invalid);
  CHECK(code({.url = "http://host:99999/v1"}) == ErrorCode::invalid);
  CHECK(code({.url = "http://127.0.0.1/v1", .token_env = "NOT_SET"}) == ErrorCode::invalid);
  CHECK(code({.url = "http://gpu01:8000/v1", .token_env = "FAKE_TOKEN"}) == ErrorCode::invalid);
  CHECK(code({.kind = "opneai"}) == ErrorCode::not_found);
  CHECK(code({.kind = "none"}) == ErrorCode::unavailable);
  CHECK(code({.kind = "replay"}) == ErrorCode::invalid);
}

TEST_CASE("URLs are taken apart") {
  const auto url = parse_url("https://[::1]:8443/gate/v1/");
  REQUIRE(url);
  CHECK(url->secure);
  CHECK(url->host == "::1");
  CHECK(url->port == 8443);
  CHECK(url->base == "/gate/v1");
  CHECK(url->is_local());
  CHECK(parse_url("http://models.example/v1")->port == 80);
  CHECK_FALSE(parse_url("https://user:pass@models.example/v1"));
}

}  // namespace schedmate::llm
