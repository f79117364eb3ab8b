// SPDX-License-Identifier: Apache-2.0
#include "apps/ask_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/words.hpp"
#include "base/fence.hpp"
#include "base/reply_object.hpp"
#include "log/lines/numbers.hpp"
#include "tree/redact.hpp"

namespace schedmate {
namespace embedded {
extern const std::string_view prompt_ask;
}
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_lines = 24;
constexpr std::size_t longest_answer = 600;

/// The lines of the answer without a model, and those that fit the question's words.
std::vector<KeptLine> material(const LogAnswer& answer, const LogIndex& index) {
  std::vector<KeptLine> lines = answer.lines;
  for (auto& line : best_lines(answer.question, index, shown_lines)) {
    const bool known = std::ranges::find(lines, line.number, &KeptLine::number) != lines.end();
    if (!known && lines.size() < shown_lines) lines.push_back(std::move(line));
  }
  std::ranges::sort(lines, {}, &KeptLine::number);
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

std::string prompt_of(const LogAnswer& answer, const std::vector<KeptLine>& lines) {
  std::string text;
  for (const KeptLine& line : lines)
    text += fmt::format("{}: {}\n", line.number, printable(redact(line.text)));
  return fmt::format("Question: {}\n{}\n", answer.question, fenced("lines of the log", text, 1));
}

struct Told {
  std::string answer;
  std::vector<std::uint64_t> lines;
};

std::optional<Told> read_reply(const std::string& text) {
  const auto object = reply_object(text);
  if (!object) return std::nullopt;
  const Json json = Json::parse(*object);
  if (!json.contains("answer") || !json["answer"].is_string() || !json.contains("lines") ||
      !json["lines"].is_array())
    return std::nullopt;
  Told told{json["answer"].get<std::string>(), {}};
  for (const auto& each : json["lines"])
    if (each.is_number_unsigned()) told.lines.push_back(each.get<std::uint64_t>());
  return told;
}

/// "" when lines prove the answer, else what is wrong with it.
std::string fault_of(const Told& told, const std::vector<KeptLine>& shown) {
  if (told.answer.empty() || told.answer.size() > longest_answer) return "no short answer";
  if (told.lines.empty()) return "it cites no line";
  std::set<double> proven;
  for (const auto number : told.lines) {
    const auto at = std::ranges::find(shown, number, &KeptLine::number);
    if (at == shown.end()) return fmt::format("line {} was not shown", number);
    proven.insert(static_cast<double>(number));
    for (const Number& each : numbers_of(at->text)) {
      proven.insert(each.value);
      if (each.total) proven.insert(*each.total);
      if (each.mean) proven.insert(*each.mean);
    }
  }
  for (const Number& each : numbers_of(told.answer))
    if (!proven.contains(each.value)) return fmt::format("no line holds {}", each.value);
  return "";
}

/// "" when the answer was taken over.
std::string ask_one(LogAnswer& answer, const std::vector<KeptLine>& lines, const Models& models) {
  ChatRequest request;
  request.system = std::string(embedded::prompt_ask);
  request.messages.push_back({false, prompt_of(answer, lines)});
  request.json_schema = schema();
  request.max_tokens = 300;
  const auto reply = models.chats.front()(request);
  if (!reply) return reply.error().message;
  const auto told = read_reply(reply->text);
  if (!told) return "the reply is no such document";
  if (auto fault = fault_of(*told, lines); !fault.empty()) return fault;
  answer.text = printable(redact(told->answer));
  answer.by = "model";
  answer.lines.clear();
  for (const auto number : told->lines)
    answer.lines.push_back(*std::ranges::find(lines, number, &KeptLine::number));
  return "";
}

}  // namespace

ModelAnswers answer_by_model(std::vector<LogAnswer>& answers, const LogIndex& index,
                             const Models& models) {
  ModelAnswers made;
  if (models.chats.empty()) return made;
  for (LogAnswer& answer : answers) {
    const auto lines = material(answer, index);
    if (lines.empty()) continue;
    const auto fault = ask_one(answer, lines, models);
    if (fault.empty()) {
      ++made.accepted;
      continue;
    }
    ++made.dropped;
    made.notes.push_back(fmt::format("model on '{}': {}", printable(answer.question), fault));
  }
  return made;
}

}  // namespace schedmate
