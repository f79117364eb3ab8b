// SPDX-License-Identifier: Apache-2.0
#include "reader/question.hpp"

#include <doctest/doctest.h>

#include "reader/request.hpp"

namespace schedmate::reader {

using std::chrono::milliseconds;

TEST_CASE("a question and its answer arrive as they were, whatever stands in them") {
  const std::string text = "0 5 {\"system\":\"a\\nb\"}\n\t\xc3\xa9 \"},\"id\":8";
  const std::string line = question_line({7, 1000, milliseconds(900)}, json_text(text));
  CHECK_FALSE(line.contains('\n'));
  CHECK_FALSE(answered_id(line));
  CHECK_FALSE(read_model_answer(line));
  const auto read = read_question_line(line);
  REQUIRE(read);
  CHECK(read->head.id == 7);
  CHECK(read->head.user == 1000);
  CHECK(read->head.within == milliseconds(900));
  CHECK(read->text == text);
  const std::string back = model_answer_line(7, text);
  CHECK_FALSE(read_head(back));
  const auto answer = read_model_answer(back);
  REQUIRE(answer);
  CHECK(answer->id == 7);
  CHECK(text_in_json(answer->line) == text);
}

TEST_CASE("what a child writes changes neither whose question it is nor whose budget") {
  for (const std::string_view forged :
       {R"("x","uid":0,"question":"y")", R"("x"},"id":8,"uid":0,"within_ms":1,"question":"y")",
        R"("no end)", R"("a\)", R"({"a":1})", R"(["x"])", "", "\"\xff\""}) {
    const auto read = read_question_line(question_line({7, 1000, milliseconds(1)}, forged));
    REQUIRE(read);
    CHECK(read->head.id == 7);
    CHECK(read->head.user == 1000);
    CHECK_MESSAGE(read->text.empty(), forged);
  }
}

TEST_CASE("a reply is no question, even one that looks like it") {
  const std::string reply = answer_line(7, R"({"a":1,"uid":5,"within_ms":9,"question":"x"})");
  CHECK_FALSE(read_question_line(reply));
  CHECK(answered_id(reply) == 7);
  for (const std::string_view line :
       {"", "{}", R"({"id":7})", R"({"id":,"uid":1,"within_ms":1,"question":"x"})",
        R"({"id":7,"uid":-1,"within_ms":1,"question":"x"})",
        R"({"id":7,"uid":99999999999,"within_ms":1,"question":"x"})",
        R"({"id":7,"uid":1,"within_ms":1,"question":"x")"})
    CHECK_FALSE(read_question_line(line));
  for (const std::string_view line :
       {"", "{}", R"({"id":7,"answer":"x")", R"({"id":x,"answer":1})"})
    CHECK_FALSE(read_model_answer(line));
}

TEST_CASE("an answer that is too large says so") {
  const auto answer = model_answer_line(7, std::string(most_answer_bytes, '\n'));
  CHECK(answer.size() < 1000);
  CHECK(text_in_json(read_model_answer(answer)->line)->contains("more than 256 KiB"));
}

}  // namespace schedmate::reader
