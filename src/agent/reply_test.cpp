// SPDX-License-Identifier: Apache-2.0
#include "agent/reply.hpp"

#include <doctest/doctest.h>

namespace schedmate::agent {

TEST_CASE("an action and an answer are read") {
  const auto act = read_turn(
      R"({"thought":"look","action":{"tool":"file_read","path":"a.py","from":3,"to":9,"query":""},)"
      R"("answer":null})");
  REQUIRE(act);
  REQUIRE(act->action);
  CHECK(act->action->tool == Tool::file_read);
  CHECK(act->action->from == 3);
  CHECK_FALSE(act->answer);
  const auto end = read_turn(
      R"({"thought":"","action":null,"answer":{"batch_size":{"value":4,"file":"a.py","line":2},)"
      R"("dataset":null,"length":{"value":{"amount":3,"unit":"epochs"},"file":"a.py","line":5},)"
      R"("extra":[{"name":"accum","value":2,"file":"a.py","line":7}]}})");
  REQUIRE(end);
  REQUIRE(end->answer);
  REQUIRE(end->answer->size() == 3);
  CHECK((*end->answer)[0].value == FactValue(std::int64_t{4}));
  CHECK((*end->answer)[1].value == FactValue(Length{3, "epochs"}));
  CHECK((*end->answer)[2].extra);
}

TEST_CASE("prose and a code fence around the object are stepped over") {
  const auto turn =
      read_turn("Sure:\n```json\n{\"answer\": {\"a\": {\"value\": \"}\"}}}\n```\nOk?");
  REQUIRE(turn);
  CHECK(turn->answer->size() == 1);
}

TEST_CASE("what is no turn is an error and never a guess") {
  for (const char* text :
       {"", "null", "[]", "{", "{}", R"({"action": {"tool": "rm"}})", R"({"answer": 3})",
        R"({"answer": {"a": {"value": 1}}, "answer": {"a": {"value": 2}}})",
        R"({"answer": {"a": {"value": 1, "value": 2}}})", R"({"answer": {"a": {"value": NaN}}})",
        R"({"answer": {"a": {"value": 1e999}}})", R"({"answer": {"a": {"value": 1}})",
        R"({"answer":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}}}})",
        "{\"answer\": {\"a\": {\"value\": \"\xff\"}}}"}) {
    CHECK_MESSAGE(!read_turn(text), text);
  }
  CHECK_FALSE(read_turn(std::string(100'000, '{')));
  CHECK_FALSE(read_turn(std::string(1'000'000, ' ')));
}

TEST_CASE("values of no type are set aside, odd lines become no line") {
  const auto turn = read_turn(
      R"({"answer":{"a":{"value":[1],"file":"x","line":1},"b":{"value":1,"file":7,"line":-4},)"
      R"("c":{"value":99999999999999999999,"file":"x","line":99999999999}}})");
  REQUIRE(turn);
  CHECK(turn->unreadable.size() == 1);
  for (const Claim& claim : *turn->answer) {
    CHECK(claim.line == 0);
    if (claim.field == "b") CHECK(claim.file.empty());
  }
}

TEST_CASE("an extra field that is named twice counts once") {
  const auto turn = read_turn(
      R"({"answer":{"extra":[{"name":"x","value":1},{"name":"x","value":2},{"value":3}, 4]}})");
  REQUIRE(turn);
  CHECK(turn->answer->size() == 2);
}

TEST_CASE("the last turn leaves no action") {
  const std::vector<std::string> gaps{"batch_size", "precision"};
  CHECK(turn_schema(gaps, Wanted::turn).find("file_read") != std::string::npos);
  const std::string last = turn_schema(gaps, Wanted::answer);
  CHECK(last.find("file_read") == std::string::npos);
  CHECK(last.find("bf16-amp") != std::string::npos);
  CHECK(last.find("\"thought\"") < last.find("\"answer\""));
}

}  // namespace schedmate::agent
