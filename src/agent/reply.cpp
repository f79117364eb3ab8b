// SPDX-License-Identifier: Apache-2.0
#include "agent/reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/reply_object.hpp"

namespace schedmate::agent {
namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_text = 2000;
constexpr int highest_line = 100'000'000;
constexpr std::size_t most_extra = 40;

const Json* member(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const Json* json) {
  if (json == nullptr || !json->is_string()) return {};
  return json->get<std::string>().substr(0, longest_text);
}

/// A line number; 0 for anything else.
int line_of(const Json* json) {
  if (json == nullptr || !json->is_number_integer()) return 0;
  const auto line = json->get<std::int64_t>();
  return line > 0 && line < highest_line ? static_cast<int>(line) : 0;
}

std::optional<FactValue> value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return text_of(&json);
  const Json* amount = member(json, "amount");
  if (amount == nullptr || !amount->is_number()) return std::nullopt;
  return Length{.amount = amount->get<double>(), .unit = text_of(member(json, "unit"))};
}

void read_claim(const Json& json, Claim claim, Turn& turn) {
  const Json* value = member(json, "value");
  if (value == nullptr) return;  // "not in the tree" is an answer
  claim.file = text_of(member(json, "file"));
  claim.line = line_of(member(json, "line"));
  if (const auto read = value_of(*value)) {
    claim.value = *read;
    turn.answer->push_back(std::move(claim));
  } else {
    turn.unreadable.push_back({std::move(claim), "wrong type"});
  }
}

void read_answer(const Json& json, Turn& turn) {
  turn.answer.emplace();
  for (const auto& [key, cell] : json.items()) {
    if (key != "extra" && cell.is_object()) {
      read_claim(cell, {.field = key.substr(0, 80), .value = {}, .file = {}}, turn);
    }
  }
  const Json* extra = member(json, "extra");
  if (extra == nullptr || !extra->is_array()) return;
  std::set<std::string> named;
  for (const Json& cell : *extra) {
    std::string name = text_of(member(cell, "name")).substr(0, 80);
    if (named.size() >= most_extra || !named.insert(name).second) continue;
    read_claim(cell, {.field = std::move(name), .value = {}, .file = {}, .extra = true}, turn);
  }
}

Result<ToolCall> read_action(const Json& json) {
  constexpr std::array<std::string_view, 3> tools = {"file_tree", "file_read", "search"};
  const std::string name = text_of(member(json, "tool"));
  const auto found = std::ranges::find(tools, name);
  if (found == tools.end()) {
    return fail(ErrorCode::bad_reply, "`action.tool` is none of file_tree, file_read and search");
  }
  return ToolCall{.tool = static_cast<Tool>(found - tools.begin()),
                  .path = text_of(member(json, "path")),
                  .from = line_of(member(json, "from")),
                  .to = line_of(member(json, "to")),
                  .query = text_of(member(json, "query"))};
}

}  // namespace

Result<Turn> read_turn(std::string_view text) {
  const auto object = reply_object(text);
  if (!object) return tl::unexpected(object.error());
  const Json json = Json::parse(*object);
  Turn turn;
  turn.thought = text_of(member(json, "thought"));
  if (const Json* answer = member(json, "answer"); answer != nullptr && answer->is_object()) {
    read_answer(*answer, turn);
    return turn;
  }
  const Json* action = member(json, "action");
  if (action == nullptr) {
    return fail(ErrorCode::bad_reply, "the reply has neither `action` nor `answer`");
  }
  auto call = read_action(*action);
  if (!call) return tl::unexpected(call.error());
  turn.action = *std::move(call);
  return turn;
}

}  // namespace schedmate::agent
