// SPDX-License-Identifier: Apache-2.0
#include "log/progress/shape_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/fence.hpp"
#include "base/random.hpp"
#include "base/reply_object.hpp"

namespace schedmate::embedded {
extern const std::string_view prompt_track;
}  // namespace schedmate::embedded

namespace schedmate::progress {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_example_text = 300;
constexpr std::size_t most_places = 40;  ///< shown of a line
constexpr std::uint64_t highest_place = 1000;

struct UnitName {
  std::string_view name;
  double seconds;
};
constexpr std::array units = {UnitName{"s", 1}, UnitName{"ms", 1e-3}, UnitName{"us", 1e-6},
                              UnitName{"min", 60}, UnitName{"h", 3600}};
constexpr std::array<std::string_view, 3> time_kinds = {"per_step", "per_report", "since_start"};
constexpr std::string_view none = "none";

std::string shape_schema() {
  const Json place = {{"anyOf", Json::array({Json{{"type", "integer"}}, Json{{"type", "null"}}})}};
  Json unit_names = Json::array();
  for (const UnitName& unit : units) unit_names.push_back(unit.name);
  unit_names.push_back(none);
  Json kind_names = Json::array();
  for (const auto kind : time_kinds) kind_names.push_back(kind);
  kind_names.push_back(none);
  const Json properties = {{"step", place},
                           {"total", place},
                           {"epoch", place},
                           {"loss", place},
                           {"time", place},
                           {"time_unit", {{"type", "string"}, {"enum", unit_names}}},
                           {"time_kind", {{"type", "string"}, {"enum", kind_names}}}};
  Json required = Json::array();
  for (const auto& [key, value] : properties.items()) required.push_back(key);
  return Json{{"type", "object"},
              {"properties", properties},
              {"required", required},
              {"additionalProperties", false}}
      .dump();
}

/// A place; nothing for null. `bad` where it is neither.
std::optional<std::size_t> place_of(const nlohmann::json& reply, const char* key, bool& bad) {
  const auto held = reply.find(key);
  if (held == reply.end() || held->is_null()) return std::nullopt;
  bad = bad || !held->is_number_unsigned() || held->get<std::uint64_t>() > highest_place;
  return bad ? std::nullopt : std::optional(held->get<std::size_t>());
}

Result<LineMeaning> read_meaning(std::string_view reply) {
  const auto object = reply_object(reply);
  if (!object) return tl::unexpected(object.error());
  const auto json = nlohmann::json::parse(*object);
  if (!json.contains("step") && !json.contains("loss") && !json.contains("time"))
    return fail(ErrorCode::bad_reply, "the reply names neither step, loss nor time");
  LineMeaning made;
  bool bad = false;
  made.step = place_of(json, "step", bad);
  made.total = place_of(json, "total", bad);
  made.epoch = place_of(json, "epoch", bad);
  made.loss = place_of(json, "loss", bad);
  made.time = place_of(json, "time", bad);
  if (bad) return fail(ErrorCode::bad_reply, "a place of the reply is no number");
  if (!made.time) return made;
  const auto word = [&](const char* key) {
    const auto held = json.find(key);
    return held != json.end() && held->is_string() ? held->get<std::string>() : std::string();
  };
  const auto unit = std::ranges::find(units, word("time_unit"), &UnitName::name);
  const auto kind = std::ranges::find(time_kinds, word("time_kind"));
  if (unit == units.end() || kind == time_kinds.end())
    made.time.reset();
  else
    made.time_unit_s = unit->seconds,
    made.covers = static_cast<TimeCover>(kind - time_kinds.begin());
  return made;
}

}  // namespace

Question<LineMeaning> shape_question(const LineShape& shape, const lines::CleanText& clean) {
  std::string text;
  for (std::size_t i = 0; i < shape.lines.size(); ++i) {
    text += clean(shape.lines[i]).substr(0, most_example_text) + "\n ";
    for (std::size_t at = 0; at < std::min(shape.numbers[i].size(), most_places); ++at)
      text += fmt::format(" {}={:.7g}", at, shape.numbers[i][at]);
    text += '\n';
  }
  ChatRequest request;
  request.system = std::string(embedded::prompt_track);
  request.messages.push_back({false, fenced("lines of the log", text, mix(shape.hash))});
  request.json_schema = shape_schema();
  request.max_tokens = 200;
  return {std::move(request), read_meaning};
}

LineMeaning agreed_meaning(std::span<const LineMeaning> answers) {
  LineMeaning made;
  for (const auto member :
       {&LineMeaning::step, &LineMeaning::total, &LineMeaning::epoch, &LineMeaning::loss}) {
    const auto same = [&](const auto& a, const auto& b) { return a.*member == b.*member; };
    if (const LineMeaning* won = majority(answers, same)) made.*member = won->*member;
  }
  const auto same_time = [](const LineMeaning& a, const LineMeaning& b) {
    return a.time == b.time && a.covers == b.covers && a.time_unit_s == b.time_unit_s;
  };
  if (const LineMeaning* won = majority(answers, same_time)) {
    made.time = won->time;
    made.covers = won->covers;
    made.time_unit_s = won->time_unit_s;
  }
  return made;
}

std::string shape_prompt_version() {
  std::uint64_t hash = 0;
  for (const char c : embedded::prompt_track) hash = mix(hash ^ static_cast<unsigned char>(c));
  return fmt::format("track-{:08x}", hash >> 32U);
}

}  // namespace schedmate::progress
