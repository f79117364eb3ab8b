// SPDX-License-Identifier: Apache-2.0
#include "llm/remote.hpp"

#include <doctest/doctest.h>

namespace schedmate::llm {
namespace {

ChatRequest some_request() {
  return {.system = "s",
          .tools = "t",
          .messages = {{.from_model = true, .text = "a \"b\"\n\xff"}, {.text = "c"}},
          .json_schema = "{}",
          .max_tokens = 7,
          .temperature = 0.7,
          .seed = 18'446'744'073'709'551'615U,
          .patience = std::chrono::milliseconds(250)};
}

}  // namespace

TEST_CASE("a request reaches the chat that it names, and its reply or error comes back") {
  std::vector<ChatRequest> seen;
  const std::vector<Chat> chats{
      [](const ChatRequest&) -> Result<ChatReply> { return fail(ErrorCode::conflict, "too long"); },
      [&](const ChatRequest& request) -> Result<ChatReply> {
        seen.push_back(request);
        return ChatReply{"text", 3, 4, "model", "stop"};
      }};
  const auto ask = [&](std::string_view question) { return answer_for(chats, question); };
  const std::vector<Chat> far = chats_through(ask, chats.size());
  const auto reply = far[1](some_request());
  REQUIRE(reply);
  CHECK(reply->text == "text");
  CHECK(reply->prompt_tokens + reply->completion_tokens == 7);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].patience == std::chrono::milliseconds(250));
  CHECK(seen[0].seed == some_request().seed);
  CHECK(seen[0].messages[0].from_model);
  CHECK(seen[0].messages[0].text.starts_with("a \"b\"\n"));
  const auto error = far[0](some_request());
  CHECK(error.error().code == ErrorCode::conflict);
  CHECK(error.error().message == "too long");
}

TEST_CASE("the other side decides who pays, and how long it waits at most") {
  std::vector<ChatRequest> seen;
  const std::vector<Chat> chats{[&](const ChatRequest& request) -> Result<ChatReply> {
    seen.push_back(request);
    return ChatReply{"text", 3, 4, "model", "stop"};
  }};
  ChatRequest request = some_request();
  request.payer = "somebody else";
  const auto far = chats_through(
      [&](std::string_view question) {
        return answer_for(chats, question, {"uid-7", std::chrono::milliseconds(100)});
      },
      1);
  REQUIRE(far[0](request));
  CHECK(seen[0].payer == "uid-7");
  CHECK(seen[0].patience == std::chrono::milliseconds(100));
}

TEST_CASE("this side takes secrets out and counts, whatever the other one says") {
  std::string sent;
  ChatServices services;
  services.meter = std::make_shared<ChatMeter>();
  services.redact = [](std::string_view text) { return text == "c" ? "[x]" : std::string(text); };
  const auto chats = open_remote(
      [&](std::string_view question) {
        sent = question;
        return refusal({ErrorCode::refused, "used up"});
      },
      2, services);
  const auto refused = chats.at(1)(some_request());
  CHECK(refused.error().code == ErrorCode::refused);
  CHECK(refused.error().message == "used up");
  CHECK(sent.starts_with("1 250 "));
  CHECK(sent.contains("[x]"));
  CHECK_FALSE(sent.contains("\"c\""));
  CHECK(services.meter->sums().calls == 1);
  CHECK(services.meter->sums().failures == 1);
}

TEST_CASE("a request that would harm whoever reads it is refused") {
  const std::vector<Chat> chats{[](const ChatRequest&) -> Result<ChatReply> {
    return ChatReply{"text", 3, 4, "model", "stop"};
  }};
  const auto said = [&](const std::string& schema, const std::string& more) {
    return answer_for(chats, R"(0 5 {"system":"","tools":"","messages":[],"json_schema":")" +
                                 schema + R"(","max_tokens":1,"temperature":0,"seed":0)" + more +
                                 "}");
  };
  CHECK(said("{}", "").starts_with('='));
  CHECK(said("nonsense", "").starts_with('!'));
  CHECK(said("[]", "").starts_with('!'));
  CHECK(said(std::string(500, '['), "").starts_with('!'));
  CHECK(said("", ",\"deep\":" + std::string(500, '[') + std::string(500, ']')).starts_with('!'));
}

TEST_CASE("a senseless question or answer is an error") {
  const std::vector<Chat> none;
  for (const char* question : {"", "0", "0 5 {}", "-1 5 {}", "x y z", "99999999999999999999 1 {}"})
    CHECK(answer_for(none, question).starts_with('!'));
  for (const char* answer : {"", "?", "=", "={}", "!"}) {
    const auto chats = chats_through([&](std::string_view) { return std::string(answer); }, 1);
    CHECK(chats[0](some_request()).error().code == ErrorCode::bad_reply);
  }
}

}  // namespace schedmate::llm
