// SPDX-License-Identifier: Apache-2.0
#include "core/action_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/json_reader.hpp"

namespace schedmate {
namespace {

template <class Value>
Value known(const std::optional<Value>& value) {
  if (!value) throw std::runtime_error("a kind, mode or state that does not exist");
  return *value;
}

template <class Value>
Value integer(const Document& document) {
  const auto value = document.is_number_integer() ? document.get<std::int64_t>() : 0;
  if (!document.is_number_integer() || !std::in_range<Value>(value))
    throw std::runtime_error("no whole number, or one that is too large");
  return static_cast<Value>(value);
}

Document nodes_document(const std::vector<NodeGpus>& nodes) {
  Document all = Document::array();
  for (const NodeGpus& each : nodes) all.push_back({{"node", each.node}, {"gpus", each.gpus}});
  return all;
}

ActionCall call_of(const Document& document) {
  ActionCall call;
  call.kind = known(action_kind_of(document.at("kind").get<std::string>()));
  call.job = document.value("job", "");
  call.submitted = at(integer<std::int64_t>(document.value("submitted_s", Document(0))));
  call.restarts = integer<std::int64_t>(document.value("restarts", Document(0)));
  for (const Document& each : document.value("nodes", Document::array())) {
    call.nodes.push_back({each.at("node"), {}});
    for (const Document& gpu : each.at("gpus"))
      call.nodes.back().gpus.push_back(integer<std::int32_t>(gpu));
  }
  call.shared_with = document.value("shared_with", "");
  call.order = integer<std::int64_t>(document.value("order", Document(0)));
  call.text = document.value("text", "");
  call.user = document.value("user", "");
  call.token = document.value("token", "");
  return call;
}

ActionStep read_step(const Document& document) {
  return {.state = known(action_state_of(document.at("state").get<std::string>())),
          .when = at(integer<std::int64_t>(document.at("when_s"))),
          .by = document.at("by"),
          .note = document.at("note")};
}

}  // namespace

Document call_document(const ActionCall& call) {
  Document document{{"kind", name_of(call.kind)}};
  const auto add = [&](const char* key, const auto& value) {
    if (value != std::decay_t<decltype(value)>()) document[key] = value;
  };
  add("job", call.job);
  if (call.submitted != SimTime()) document["submitted_s"] = seconds_of(call.submitted);
  add("restarts", call.restarts);
  if (!call.nodes.empty()) document["nodes"] = nodes_document(call.nodes);
  add("shared_with", call.shared_with);
  add("order", call.order);
  add("text", call.text);
  add("user", call.user);
  add("token", call.token);
  return document;
}

Document action_document(const Action& action) {
  Document document;  // each value goes in by itself: lists of values are copied twice
  document["schema"] = "schedmate.action.v1";
  document["id"] = action.id;
  document["kind"] = name_of(action.call.kind);
  document["state"] = name_of(action.state());
  document["target"] = targets_of(action.call);
  document["call"] = call_document(action.call);
  document["why"] = action.why;
  document["mode"] = name_of(action.mode);
  document["before"] = action.before;
  document["undoes"] = action.undoes;
  Document& steps = document["steps"] = Document::array();
  for (const ActionStep& step : action.steps) {
    Document& made = steps.emplace_back();
    made["state"] = name_of(step.state);
    made["when_s"] = seconds_of(step.when);
    made["by"] = step.by;
    made["note"] = step.note;
  }
  return document;
}

Result<ActionCall> read_call(const Document& document) {
  try {
    return call_of(document);
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid, fmt::format("no call of an action: {}", error.what()));
  }
}

Result<Action> read_action(std::string_view text) {
  try {
    const auto read = read_json(text, {});
    if (!read) throw std::runtime_error(read.error().message);
    const Document& document = *read;
    Action action;
    action.id = integer<std::int64_t>(document.at("id"));
    action.call = call_of(document.at("call"));
    action.why = document.at("why").get<std::vector<std::string>>();
    action.mode = known(mode_of(document.at("mode").get<std::string>()));
    action.before = document.at("before");
    action.undoes = integer<std::int64_t>(document.at("undoes"));
    for (const Document& step : document.at("steps")) action.steps.push_back(read_step(step));
    if (action.steps.empty()) throw std::runtime_error("it has no step");
    return action;
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid, fmt::format("no schedmate.action.v1: {}", error.what()));
  }
}

}  // namespace schedmate
