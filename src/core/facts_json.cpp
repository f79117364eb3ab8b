// SPDX-License-Identifier: Apache-2.0
#include "core/facts_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "base/json.hpp"

namespace schedmate {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array fields = std::to_array<std::string_view>(
    {"model_name",   "model_family", "model_type",      "task_type",  "task",
     "dataset",      "dataset_size", "augmentation",    "framework",  "distributed",
     "batch_size",   "length",       "precision",       "optimizer",  "learning_rate",
     "params_scale", "pretrained",   "sequence_length", "resolution", "gpus",
     "nodes",        "gpu_type"});

constexpr std::array source_words =
    std::to_array<std::string_view>({"command", "shell", "default", "config", "composition", "code",
                                     "table", "environment", "model"});
constexpr std::array outlook_words =
    std::to_array<std::string_view>({"runs", "evaluation only", "fails early", "not known"});

/// 200 rather than 200.0: amounts are counts more often than not.
ordered_json number(double value) {
  constexpr double exact_below = 9e15;
  if (std::trunc(value) == value && std::abs(value) < exact_below)
    return static_cast<std::int64_t>(value);
  return value;
}

struct ValueWriter {
  ordered_json operator()(std::monostate) const { return nullptr; }
  ordered_json operator()(const Length& length) const {
    return {{"amount", number(length.amount)}, {"unit", length.unit}};
  }
  template <class Plain>
  ordered_json operator()(const Plain& value) const {
    return value;
  }
};

ordered_json write(const Fact& fact) {
  ordered_json lines = ordered_json::array();
  for (const Evidence& each : fact.evidence)
    lines.push_back({{"file", each.file}, {"line", each.line}, {"text", each.text}});
  return {{"value", std::visit(ValueWriter(), fact.value)},
          {"confidence", as_known(fact.confidence)},
          {"source", source_word(fact.source)},
          {"evidence", std::move(lines)}};
}

ordered_json write_facts(const Facts& facts) {
  ordered_json object = ordered_json::object();
  const ordered_json unknown = {
      {"value", nullptr}, {"confidence", 0.0}, {"source", nullptr}, {"evidence", json::array()}};
  for (const std::string_view field : fields) {
    const auto found = facts.facts.find(field);
    object[std::string(field)] = found == facts.facts.end() ? unknown : write(found->second);
  }
  for (const auto& [name, fact] : facts.facts)
    if (!object.contains(name)) object[name] = write(fact);
  return object;
}

// --- reading ---------------------------------------------------------------------------------

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

template <std::size_t count>
std::size_t index_of(const std::array<std::string_view, count>& words, std::string_view word) {
  return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
}

FactValue read_value(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object()) {
    const auto amount = value.find("amount");
    if (amount != value.end() && amount->is_number())
      return Length{amount->get<double>(), text_at(value, "unit")};
  }
  return std::monostate();
}

Fact read_fact(const json& cell) {
  Fact fact;
  if (!cell.is_object()) return fact;
  if (const auto value = cell.find("value"); value != cell.end()) fact.value = read_value(*value);
  if (const auto share = cell.find("confidence"); share != cell.end() && share->is_number())
    fact.confidence = share->get<double>();
  if (const auto at = index_of(source_words, text_at(cell, "source")); at < source_words.size())
    fact.source = static_cast<FactSource>(at);
  const auto lines = cell.find("evidence");
  if (lines == cell.end() || !lines->is_array()) return fact;
  for (const json& each : *lines) {
    if (!each.is_object()) continue;
    const auto line = each.find("line");
    const int at = line != each.end() && line->is_number_integer() ? line->get<int>() : 0;
    fact.evidence.push_back({text_at(each, "file"), at, text_at(each, "text")});
  }
  return fact;
}

/// A field that has neither value nor source was only printed to say that it is unknown.
bool is_placeholder(const json& cell) {
  const auto source = cell.is_object() ? cell.find("source") : cell.end();
  return source != cell.end() && source->is_null();
}

void read_facts(const json& document, const char* key, decltype(Facts::facts)& into) {
  const auto object = document.find(key);
  if (object == document.end() || !object->is_object()) return;
  for (const auto& [name, cell] : object->items())
    if (!is_placeholder(cell)) into.emplace(name, read_fact(cell));
}

std::vector<std::string> read_texts(const json& document, const char* key) {
  std::vector<std::string> texts;
  const auto list = document.find(key);
  if (list == document.end() || !list->is_array()) return texts;
  for (const json& each : *list)
    if (each.is_string()) texts.push_back(each.get<std::string>());
  return texts;
}

void read_rejected(const json& document, Facts& facts) {
  const auto list = document.find("rejected");
  if (list == document.end() || !list->is_array()) return;
  for (const json& each : *list) {
    if (each.is_object())
      facts.rejected.push_back({text_at(each, "field"), read_fact(each), text_at(each, "why")});
  }
}

void read_cost(const json& document, Facts& facts) {
  const auto cost = document.find("cost");
  if (cost == document.end() || !cost->is_object()) return;
  const auto read = [&](const char* key, auto& into) {
    if (const auto found = cost->find(key); found != cost->end() && found->is_number())
      into = found->get<std::remove_reference_t<decltype(into)>>();
  };
  read("model_calls", facts.model.calls);
  read("tokens", facts.model.tokens);
  read("model_accepted", facts.model.accepted);
  read("model_dropped", facts.model.dropped);
  read("wall_ms", facts.wall_ms);
}

Facts read_document(const json& document) {
  Facts facts;
  read_facts(document, "facts", facts.facts);
  read_facts(document, "extra", facts.extra);
  if (const auto at = index_of(outlook_words, text_at(document, "expect"));
      at < outlook_words.size())
    facts.expect = static_cast<Outlook>(at);
  if (const auto at = document.find("expect"); at != document.end() && at->is_null())
    facts.expect = Outlook::unknown;
  facts.expect_reason = text_at(document, "expect_reason");
  if (const auto runs = document.find("runs"); runs != document.end() && runs->is_number_integer())
    facts.runs = std::max<std::int64_t>(0, runs->get<std::int64_t>());
  facts.files_read = read_texts(document, "files_read");
  facts.tree = text_at(document, "tree");
  facts.degraded = read_texts(document, "degraded");
  read_rejected(document, facts);
  read_cost(document, facts);
  return facts;
}

Result<Facts> read_checked(const json& document) {
  if (document.is_discarded() || !document.is_object()) {
    return fail(ErrorCode::invalid, "facts: the text is not a JSON object; it may have been cut");
  }
  if (text_at(document, "schema") != "schedmate.facts.v1") {
    return fail(ErrorCode::invalid,
                fmt::format("facts: schema '{}' instead of schedmate.facts.v1; it was written by "
                            "another version of schedmate",
                            text_at(document, "schema")));
  }
  return read_document(document);
}

}  // namespace

std::span<const std::string_view> fact_fields() { return fields; }

const Fact* known_fact(const Facts& facts, std::string_view field) {
  const auto found = facts.facts.find(field);
  return found != facts.facts.end() && found->second.value.index() != 0 ? &found->second : nullptr;
}

std::string_view source_word(FactSource source) {
  return source_words[static_cast<std::size_t>(source)];
}

std::string_view outlook_word(Outlook outlook) {
  return outlook_words[static_cast<std::size_t>(outlook)];
}

std::string value_text(const FactValue& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool yes) const { return yes ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return fmt::format("{:g}", real); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Length& length) const {
      return fmt::format("{:.10g} {}", length.amount, length.unit);
    }
  };
  return std::visit(Writer(), value);
}

Document facts_document(const Facts& facts, FactsDetail detail) {
  Document document = {{"schema", "schedmate.facts.v1"}, {"facts", write_facts(facts)}};
  auto& extra = document["extra"] = ordered_json::object();
  for (const auto& [name, fact] : facts.extra) extra[name] = write(fact);
  if (facts.expect == Outlook::unknown)
    document["expect"] = nullptr;
  else
    document["expect"] = outlook_word(facts.expect);
  document["expect_reason"] = facts.expect_reason;
  document["runs"] = facts.runs;
  document["files_read"] = facts.files_read;
  document["tree"] = facts.tree;
  document["degraded"] = facts.degraded;
  document["cost"] = {{"model_calls", facts.model.calls},
                      {"tokens", facts.model.tokens},
                      {"model_accepted", facts.model.accepted},
                      {"model_dropped", facts.model.dropped},
                      {"wall_ms", facts.wall_ms}};
  if (detail == FactsDetail::with_rejected) {
    auto& list = document["rejected"] = ordered_json::array();
    for (const Rejected& each : facts.rejected) {
      ordered_json row = {{"field", each.field}, {"why", each.why}};
      row.update(write(each.fact));
      list.push_back(std::move(row));
    }
  }
  return document;
}

std::string facts_json(const Facts& facts, FactsDetail detail) {
  return in_one_line(facts_document(facts, detail));
}

Result<Facts> read_facts_json(std::string_view text) {
  return read_checked(json::parse(text, nullptr, false));
}

Result<Facts> read_facts_document(const Document& document) { return read_checked(json(document)); }

}  // namespace schedmate
