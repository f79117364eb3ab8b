// SPDX-License-Identifier: Apache-2.0
#include "reader/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "llm/remote.hpp"

namespace schedmate::reader {
namespace {

constexpr std::string_view of_id = R"({"id":)", of_user = R"(,"uid":)",
                           of_time = R"(,"within_ms":)", of_question = R"(,"question":)",
                           of_answer = R"(,"answer":)";

/// The number that follows `name` at the beginning of `line`; both are taken off it.
template <class Number>
std::optional<Number> take_member(std::string_view& line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  const std::size_t end = std::min(line.find_first_not_of("0123456789"), line.size());
  const auto number = parse_number<Number>(line.substr(0, end));
  line.remove_prefix(end);
  return number;
}

/// What stands between `name` and the last brace.
std::optional<std::string_view> last_member(std::string_view line, std::string_view name) {
  if (!line.starts_with(name) || !line.ends_with('}')) return std::nullopt;
  return line.substr(name.size(), line.size() - name.size() - 1);
}

}  // namespace

std::string json_text(std::string_view text) {
  return Document(text).dump(-1, ' ', false, Document::error_handler_t::replace);
}

std::optional<std::string> text_in_json(std::string_view line) {
  const auto read = read_json(line, {.deepest = 1, .most_values = 1});
  if (!read || !read->is_string()) return std::nullopt;
  return read->get<std::string>();
}

std::string question_line(const QuestionHead& head, std::string_view line) {
  return fmt::format("{}{}{}{}{}{}{}{}}}", of_id, head.id, of_user, head.user, of_time,
                     std::max<std::int64_t>(head.within.count(), 0), of_question, line);
}

std::optional<Question> read_question_line(std::string_view line) {
  const auto id = take_member<std::uint64_t>(line, of_id);
  const auto user = take_member<uid_t>(line, of_user);
  const auto within_ms = take_member<std::int64_t>(line, of_time);
  const auto text = last_member(line, of_question);
  if (!id || !user || !within_ms || !text) return std::nullopt;
  return Question{{*id, *user, std::chrono::milliseconds(*within_ms)},
                  text_in_json(*text).value_or("")};
}

std::string model_answer_line(std::uint64_t id, std::string_view text) {
  std::string line = json_text(text);
  if (line.size() > most_answer_bytes)
    line = json_text(
        llm::refusal({ErrorCode::bad_reply, fmt::format("the model's answer has more than {} KiB",
                                                        most_answer_bytes >> 10U)}));
  return fmt::format("{}{}{}{}}}", of_id, id, of_answer, line);
}

std::optional<ModelAnswer> read_model_answer(std::string_view line) {
  const auto id = take_member<std::uint64_t>(line, of_id);
  const auto text = last_member(line, of_answer);
  if (!id || !text) return std::nullopt;
  return ModelAnswer{*id, *text};
}

}  // namespace schedmate::reader
