// SPDX-License-Identifier: Apache-2.0
#include "service/ask_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fence.hpp"
#include "base/reply_object.hpp"
#include "log/lines/numbers.hpp"
#include "log/lines/said_words.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::embedded {
extern const std::string_view prompt_ask;
}

namespace schedmate::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_lines = 24;
constexpr std::size_t longest_answer = 600;

/// The lines of the answer without a model, and those that fit the question's words.
std::vector<ask::IndexedLine> material(const ask::LogAnswer& answer, const ask::LogIndex& index) {
  std::vector<ask::IndexedLine> lines = answer.lines;
  for (auto& line : ask::best_lines(answer.question, index, shown_lines)) {
    const bool known =
        std::ranges::find(lines, line.number, &ask::IndexedLine::number) != lines.end();
    if (!known && lines.size() < shown_lines) lines.push_back(std::move(line));
  }
  std::ranges::sort(lines, {}, &ask::IndexedLine::number);
  return lines;
}

std::string schema() {
  return Json{{"type", "object"},
              {"properties",
               {{"answer", {{"type", "string"}}},
                {"lines", {{"type", "array"}, {"items", {{"type", "integer"}}}}}}},
              {"required", {"answer", "lines"}},
              {"additionalProperties", false}}
      .dump();
}

std::string prompt_of(const ask::LogAnswer& answer, const std::vector<ask::IndexedLine>& lines) {
  std::string text;
  for (const ask::IndexedLine& line : lines)
    text += fmt::format("{}: {}\n", line.number, secrets::safe_line(line.text));
  return fmt::format("Question: {}\n{}\n", answer.question, fenced("lines of the log", text, 1));
}

/// What a model says: an answer, and the lines that it stands on.
struct CitedAnswer {
  std::string text;
  std::vector<std::uint64_t> lines;
};

Result<CitedAnswer> read_cited(std::string_view reply) {
  const auto wrong = [] { return fail(ErrorCode::bad_reply, "the reply is no such document"); };
  const auto object = reply_object(reply);
  if (!object) return wrong();
  const Json json = Json::parse(*object);
  if (!json.contains("answer") || !json["answer"].is_string() || !json.contains("lines") ||
      !json["lines"].is_array())
    return wrong();
  CitedAnswer answer{json["answer"].get<std::string>(), {}};
  for (const auto& each : json["lines"])
    if (each.is_number_unsigned()) answer.lines.push_back(each.get<std::uint64_t>());
  return answer;
}

/// What a model was asked, and whose job it is.
struct AskedOf {
  std::string_view question;
  std::span<const std::string> nodes;
};

/// "" when lines prove the answer, else what is wrong with it.
std::string fault_of(const CitedAnswer& given, const std::vector<ask::IndexedLine>& shown,
                     const AskedOf& asked) {
  if (given.text.empty() || given.text.size() > longest_answer) return "no short answer";
  if (given.lines.empty()) return "it cites no line";
  std::set<double> proven;
  lines::SaidWords said{given.text, asked.question, {}, asked.nodes};
  for (const auto number : given.lines) {
    const auto at = std::ranges::find(shown, number, &ask::IndexedLine::number);
    if (at == shown.end()) return fmt::format("line {} was not shown", number);
    proven.insert(static_cast<double>(number));
    said.cited.push_back(at->text);
    for (const lines::Number& each : lines::numbers_of(at->text)) {
      proven.insert(each.value);
      if (each.total) proven.insert(*each.total);
      if (each.mean) proven.insert(*each.mean);
    }
  }
  for (const lines::Number& each : lines::numbers_of(given.text))
    if (!proven.contains(each.value)) return fmt::format("no line holds {}", each.value);
  return lines::fault_of_words(said);
}

Question<CitedAnswer> question_of(const ask::LogAnswer& answer,
                                  const std::vector<ask::IndexedLine>& lines,
                                  std::span<const std::string> nodes) {
  ChatRequest request;
  request.system = std::string(embedded::prompt_ask);
  request.messages.push_back({false, prompt_of(answer, lines)});
  request.json_schema = schema();
  request.max_tokens = 300;
  return {std::move(request), read_cited,
          [&lines, asked = AskedOf{answer.question, nodes}](const CitedAnswer& given) {
            return fault_of(given, lines, asked);
          }};
}

void take_over(const CitedAnswer& given, const std::vector<ask::IndexedLine>& shown,
               ask::LogAnswer& answer) {
  answer.text = secrets::safe_line(given.text);
  answer.by = "model";
  answer.lines.clear();
  for (const auto number : given.lines)
    answer.lines.push_back(*std::ranges::find(shown, number, &ask::IndexedLine::number));
}

}  // namespace

llm::QuestionTally answer_by_model(std::vector<ask::LogAnswer>& answers, const ask::LogIndex& index,
                                   std::span<const std::string> nodes, const Models& models) {
  llm::QuestionTally made;
  if (models.chats.empty()) return made;
  for (ask::LogAnswer& answer : answers) {
    const auto lines = material(answer, index);
    if (lines.empty() || !answer.answered) continue;
    const auto given = llm::put_to(models.chats.front(), question_of(answer, lines, nodes)).answer;
    if (given) {
      take_over(*given, lines, answer);
      ++made.accepted;
      continue;
    }
    ++made.dropped;
    made.note(fmt::format("model on '{}': {}", answer.question, given.error().message));
  }
  return made;
}

}  // namespace schedmate::service
