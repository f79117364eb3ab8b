// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Asking language models a Question, and what became of it.

#include <optional>
#include <schedmate/question.hpp>
#include <vector>

namespace schedmate::llm {

/// What became of the questions of one command.
struct QuestionTally {
  std::int64_t accepted = 0;       ///< values that are confirmed
  std::int64_t dropped = 0;        ///< values, or whole answers, that are not
  std::vector<std::string> notes;  ///< each once; printable

  void note(std::string_view text);
};

/// What came of putting a question to one model.
template <class Answer>
struct Asked {
  std::optional<ChatReply> reply;  ///< nothing: the chat failed
  Result<Answer> answer;           ///< of the reply; errors: those of the chat; bad_reply
};

template <class Answer>
[[nodiscard]] Asked<Answer> put_to(const Chat& chat, const Question<Answer>& question) {
  Result<ChatReply> reply = chat(question.request);
  if (!reply) return {std::nullopt, tl::unexpected(reply.error())};
  Result<Answer> answer = question.read(reply->text);
  std::string fault = answer && question.fault ? question.fault(*answer) : "";
  if (!fault.empty()) answer = fail(ErrorCode::bad_reply, std::move(fault));
  return {*std::move(reply), std::move(answer)};
}

/// The answers of all models that gave one. Whoever gave none is a note: one that does not answer
/// at all as such, one whose answer does not count also as a dropped answer.
template <class Answer>
[[nodiscard]] std::vector<Answer> ask_all(std::span<const Chat> chats,
                                          const Question<Answer>& question, QuestionTally& tally) {
  std::vector<Answer> answers;
  for (const Chat& chat : chats) {
    Asked<Answer> asked = put_to(chat, question);
    if (asked.answer) {
      answers.push_back(*std::move(asked.answer));
      continue;
    }
    if (asked.reply) ++tally.dropped;
    tally.note((asked.reply ? "model: " : "no answer of the model: ") +
               asked.answer.error().message);
  }
  return answers;
}

}  // namespace schedmate::llm
