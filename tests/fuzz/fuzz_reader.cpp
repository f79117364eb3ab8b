// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "llm/remote.hpp"
#include "reader/child.hpp"
#include "reader/question.hpp"
#include "reader/request.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

void check_request(std::string_view line) {
  const auto head = reader::read_head(line);
  const auto read = reader::read_request(line);
  if (!read) {
    SCHEDMATE_CHECK(!read.error().message.empty(), "an error says something");
    return;
  }
  if (head)
    SCHEDMATE_CHECK(head->id == read->id && head->user == read->request.user,
                    "who is asked for stands first, and nowhere else");
  const std::string written = reader::request_line(*read);
  SCHEDMATE_CHECK(written.find('\n') == std::string::npos, "a request is one line");
  const auto again = reader::read_request(written);
  SCHEDMATE_CHECK(again && again->request == read->request && again->id == read->id,
                  "what is written reads as it was");
}

/// What a child may have written, as the one who asked gets it.
void check_reply(std::string_view reply) {
  const std::string line = reader::answer_line(7, reply);
  SCHEDMATE_CHECK(reader::answered_id(line) == 7, "no reply answers another request");
  const auto result = reader::result_in(line);
  SCHEDMATE_CHECK(result || !result.error().message.empty(), "an error says something");
  if (reader::answered_id(reply)) static_cast<void>(reader::result_in(reply));
}

/// What a child may have asked, as the daemon gets it, and what the reader may have been told.
void check_question(std::string_view line) {
  const auto read = reader::read_question_line(reader::question_line({7, 1000, {}}, line));
  SCHEDMATE_CHECK(!read || (read->head.id == 7 && read->head.user == 1000),
                  "no question is another's");
  static_cast<void>(reader::read_question_line(line));
  static_cast<void>(reader::read_model_answer(line));
  const std::vector<Chat> chats{[](const ChatRequest& request) -> Result<ChatReply> {
    return ChatReply{request.system, 0, 0, "", ""};
  }};
  SCHEDMATE_CHECK(!llm::answer_for(chats, line).empty(), "whoever asks hears something");
}

void check_child(std::string_view bytes) {
  reader::ChildSays said;
  said.bytes = bytes;
  while (const auto question = said.take_question())
    SCHEDMATE_CHECK(!question->contains('\n'), "a question is one line");
  const auto reply = said.reply();
  SCHEDMATE_CHECK(!reply || !reply->contains('\n'), "a reply is one line");
  static_cast<void>(said.user());
  if (const auto order = reader::read_work(bytes)) {
    const auto again = reader::read_work(reader::work_text(*order));
    SCHEDMATE_CHECK(again && again->request == order->request && again->settings == order->settings,
                    "an order reads as it was written");
  }
}

}  // namespace

/// Requests, replies, questions and orders of schedmate-reader.
void fuzz_reader(std::string_view input) {
  check_request(input);
  check_reply(input);
  check_question(input);
  check_child(input);
}

}  // namespace schedmate::fuzz
