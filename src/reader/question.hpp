// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a child asks a language model, on its way through the reader to the daemon, and the answer
/// on its way back (docs/reader.md): both texts of src/llm/remote.hpp, quoted as JSON, so that
/// whoever only passes them on need not read them.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedmate::reader {

/// Of what a child writes, and of what it gets.
inline constexpr std::size_t most_question_bytes = std::size_t{1} << 20U;
inline constexpr std::size_t most_answer_bytes = std::size_t{256} << 10U;

/// A text as a JSON string of one line, and back. Nothing: it is none.
[[nodiscard]] std::string json_text(std::string_view text);
[[nodiscard]] std::optional<std::string> text_in_json(std::string_view line);

/// Of a question, before what is asked.
struct QuestionHead {
  std::uint64_t id = 0;                 ///< of the request for which it is asked
  uid_t user = 0;                       ///< whose rights the child has, as the reader gave them
  std::chrono::milliseconds within{0};  ///< after that nobody waits for the answer
};
/// From the reader; `line` is what the child wrote.
[[nodiscard]] std::string question_line(const QuestionHead& head, std::string_view line);
struct Question {
  QuestionHead head{};
  std::string text{};  ///< "": the child wrote none that can be read
};
/// Nothing: the line is no question.
[[nodiscard]] std::optional<Question> read_question_line(std::string_view line);

/// To the reader. A text that is too large becomes an answer that says so.
[[nodiscard]] std::string model_answer_line(std::uint64_t id, std::string_view text);
struct ModelAnswer {
  std::uint64_t id = 0;
  std::string_view line{};  ///< for the child, as it came
};
/// Nothing: the line is no answer.
[[nodiscard]] std::optional<ModelAnswer> read_model_answer(std::string_view line);

}  // namespace schedmate::reader
