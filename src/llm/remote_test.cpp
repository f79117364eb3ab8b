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
