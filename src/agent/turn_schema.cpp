// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "agent/fields.hpp"
#include "agent/reply.hpp"

namespace schedmate::agent {
namespace {

// Ordered, so that the model writes its thought before its choice. Only what every server's
// converter knows: object, array, anyOf, enum and plain types; all keys required (docs/llm.md).
using OrderedJson = nlohmann::ordered_json;

OrderedJson type(const char* name) { return {{"type", name}}; }

OrderedJson object(const OrderedJson& properties) {
  OrderedJson required = OrderedJson::array();
  for (const auto& [key, schema] : properties.items()) required.push_back(key);
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

OrderedJson or_null(OrderedJson schema) {
  return {{"anyOf", OrderedJson::array({std::move(schema), type("null")})}};
}

OrderedJson choice(std::initializer_list<const char*> words) {
  return {{"type", "string"},
          {"enum", OrderedJson(std::vector<std::string>(words.begin(), words.end()))}};
}

OrderedJson value_schema(const Field& field) {
  switch (field.kind) {
    case FieldKind::whole:
      return type("integer");
    case FieldKind::number:
      return type("number");
    case FieldKind::flag:
      return type("boolean");
    case FieldKind::scale:
      return choice({"small", "medium", "large"});
    case FieldKind::precision:
      return choice({"fp32", "fp16-amp", "bf16-amp", "bf16", "fp16", "fp8"});
    case FieldKind::length:
      return object({{"amount", type("number")},
                     {"unit", choice({"epochs", "steps", "samples", "env steps", "kimg"})}});
    default:
      return type("string");
  }
}

OrderedJson cell(OrderedJson value) {
  return {{"value", std::move(value)}, {"file", type("string")}, {"line", type("integer")}};
}

OrderedJson action_schema() {
  return object({{"tool", choice({"file_tree", "file_read", "search"})},
                 {"path", type("string")},
                 {"from", type("integer")},
                 {"to", type("integer")},
                 {"query", type("string")}});
}

OrderedJson answer_schema(std::span<const std::string> gaps, bool with_extra) {
  OrderedJson properties = OrderedJson::object();
  for (const std::string& gap : gaps) {
    if (const Field* field = find_field(gap)) {
      properties[gap] = or_null(object(cell(value_schema(*field))));
    }
  }
  if (!with_extra) return object(properties);
  OrderedJson extra = {{"name", type("string")}};
  extra.update(
      cell({{"anyOf", OrderedJson::array({type("string"), type("number"), type("boolean")})}}));
  properties["extra"] = {{"type", "array"}, {"items", object(extra)}};
  return object(properties);
}

}  // namespace

std::string turn_schema(std::span<const std::string> gaps, Wanted wanted) {
  const OrderedJson answer = answer_schema(gaps, wanted != Wanted::bare_answer);
  if (wanted == Wanted::bare_answer) return object({{"answer", answer}}).dump();
  const bool last = wanted == Wanted::answer;
  OrderedJson properties = {{"thought", type("string")}};
  properties["action"] = last ? type("null") : or_null(action_schema());
  properties["answer"] = last ? answer : or_null(answer);
  return object(properties).dump();
}

}  // namespace schedmate::agent
