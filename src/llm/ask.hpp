// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Asking language models a Question, and what became of it.

#include <optional>
#include <schedmate/question.hpp>
#include <vector>

namespace schedmate {

/// What became of the questions of one command.
struct QuestionTally {
  std::int64_t accepted = 0;       ///< values that are borne out
  std::int64_t dropped = 0;        ///< values, or whole answers, that are not
  std::vector<std::string> notes;  ///< each once; printable

  void note(std::string_view text);
};

/// A reply that was read and is not at fault. Errors: those of the chat; bad_reply.
template <class Answer>
[[nodiscard]] Result<Answer> ask(const Chat& chat, const Question<Answer>& question) {
  const Result<ChatReply> reply = chat(question.request);
  if (!reply) return tl::unexpected(reply.error());
  Result<Answer> answer = question.read(reply->text);
  if (!answer || !question.fault) return answer;
  std::string fault = question.fault(*answer);
  if (fault.empty()) return answer;
  return fail(ErrorCode::bad_reply, std::move(fault));
}

/// The answers of all models that gave one. Whoever gave none is a note: one that does not answer
/// at all as such, one whose answer does not count also as a dropped answer.
template <class Answer>
[[nodiscard]] std::vector<Answer> ask_all(std::span<const Chat> chats,
                                          const Question<Answer>& question, QuestionTally& tally) {
  std::vector<Answer> answers;
  for (const Chat& chat : chats) {
    bool has_replied = false;
    Question<Answer> seen = question;
    seen.read = [&](std::string_view reply) {
      has_replied = true;
      return question.read(reply);
    };
    auto answer = ask(chat, seen);
    if (answer) {
      answers.push_back(*std::move(answer));
      continue;
    }
    if (has_replied) ++tally.dropped;
    tally.note((has_replied ? "model: " : "no answer of the model: ") + answer.error().message);
  }
  return answers;
}

}  // namespace schedmate
