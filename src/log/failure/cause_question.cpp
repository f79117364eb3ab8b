// SPDX-License-Identifier: Apache-2.0
#include "log/failure/cause_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/fence.hpp"
#include "base/reply_object.hpp"
#include "base/text.hpp"

namespace schedmate::embedded {
extern const std::string_view prompt_diagnose;
}  // namespace schedmate::embedded

namespace schedmate::failure {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_shown_text = 300;
constexpr std::size_t most_reason_text = 300;
constexpr std::array classes = {FailureClass::infrastructure, FailureClass::framework,
                                FailureClass::user_script, FailureClass::other};
constexpr std::array components = {Component::gpu,  Component::nvlink,  Component::network,
                                   Component::node, Component::storage, Component::other,
                                   Component::none};

template <class Value, std::size_t size>
Json enumeration(const std::array<Value, size>& values) {
  Json names = Json::array();
  for (const Value each : values) names.push_back(name_of(each));
  return {{"type", "string"}, {"enum", names}};
}

std::string cause_schema() {
  return Json{{"type", "object"},
              {"properties",
               {{"reason", {{"type", "string"}}},
                {"line", {{"type", "integer"}}},
                {"class", enumeration(classes)},
                {"component", enumeration(components)}}},
              {"required", {"reason", "line", "class", "component"}},
              {"additionalProperties", false}}
      .dump();
}

/// Cleaned as one text, since a secret may span lines.
std::vector<std::string> cleaned(const OpenCause& cause, const lines::CleanText& clean) {
  std::string text;
  for (const auto& line : cause.lines) text += line.text + '\n';
  const std::string shown = clean(text);
  std::vector<std::string> lines;
  for (const auto each : split(shown, '\n')) lines.emplace_back(each.substr(0, most_shown_text));
  lines.resize(cause.lines.size());
  return lines;
}

/// From where to where the lines fit, the candidate (or the end) among them.
std::pair<std::size_t, std::size_t> fitting(const std::vector<std::string>& lines, std::size_t root,
                                            std::size_t most_bytes) {
  std::size_t from = root, to = root + 1, bytes = lines[root].size();
  while (from > 0 || to < lines.size()) {
    // Three lines before for one behind.
    const bool before = from > 0 && (to >= lines.size() || root - from <= 3 * (to - root - 1));
    const auto& next = before ? lines[from - 1] : lines[to];
    bytes += next.size() + 10;
    if (bytes > most_bytes) break;
    before ? --from : ++to;
  }
  return {from, to};
}

template <class Value, std::size_t size>
const Value* find_name(const nlohmann::json& reply, const char* key,
                       const std::array<Value, size>& values) {
  const auto held = reply.find(key);
  if (held == reply.end() || !held->is_string()) return nullptr;
  const auto name = held->get<std::string>();
  const auto at = std::ranges::find(values, name, [](Value each) { return name_of(each); });
  return at == values.end() ? nullptr : &*at;
}

Result<CauseClaim> read_cause(std::string_view reply) {
  const auto object = reply_object(reply);
  if (!object) return tl::unexpected(object.error());
  const auto json = nlohmann::json::parse(*object);
  const auto* const verdict = find_name(json, "class", classes);
  if (verdict == nullptr) return fail(ErrorCode::bad_reply, "the reply names no class");
  const auto* const component = find_name(json, "component", components);
  const auto line = json.find("line");
  if (component == nullptr || line == json.end() || !line->is_number_unsigned())
    return fail(ErrorCode::bad_reply, "the reply needs a component and a line");
  CauseClaim claim{*verdict, *component, line->get<std::uint64_t>(), ""};
  const auto reason = json.find("reason");
  if (reason != json.end() && reason->is_string())
    claim.reason = reason->get<std::string>().substr(0, most_reason_text);
  return claim;
}

}  // namespace

Question<CauseClaim> cause_question(const OpenCause& cause, const lines::CleanText& clean,
                                    std::size_t most_bytes) {
  const auto lines = cleaned(cause, clean);
  const auto held =
      std::ranges::find(cause.lines, cause.candidate.value_or(0), &OpenCause::Line::number);
  const auto last = lines.empty() ? 0 : lines.size() - 1;
  const auto root =
      held == cause.lines.end() ? last : static_cast<std::size_t>(held - cause.lines.begin());
  std::string text;
  if (!lines.empty()) {
    const auto [from, to] = fitting(lines, root, most_bytes);
    for (auto i = from; i < to; ++i)
      text += fmt::format("{}: {}\n", cause.lines[i].number, lines[i]);
  }
  const auto where = cause.candidate
                         ? fmt::format("The program marked line {}.", *cause.candidate)
                         : std::string("The program found no line; the scheduler says it failed.");
  ChatRequest request;
  request.system = std::string(embedded::prompt_diagnose);
  request.messages.push_back({false, fenced("lines of the log", text, text.size()) + "\n" + where});
  request.json_schema = cause_schema();
  request.max_tokens = 250;
  return {std::move(request), read_cause};
}

std::optional<CauseClaim> agreed_cause(std::span<const CauseClaim> answers) {
  const CauseClaim* const won =
      majority(answers, [](const CauseClaim& one, const CauseClaim& other) {
        return one.verdict == other.verdict && one.component == other.component;
      });
  return won == nullptr ? std::nullopt : std::optional(*won);
}

}  // namespace schedmate::failure
