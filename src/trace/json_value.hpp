// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small look-ups in parsed JSON that the Philly and Slurm readers share. Only files that read JSON
/// include this one, since it brings simdjson along.

#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/builder.hpp"
#include "trace/json_array.hpp"

namespace schedmate::trace {

using JsonElement = simdjson::dom::element;

/// Parses an object that JsonArray found.
[[nodiscard]] inline std::optional<JsonElement> parse_object(simdjson::dom::parser& parser,
                                                             std::string_view object) {
  static_assert(simdjson::SIMDJSON_PADDING <= JsonArray::padding);
  JsonElement element;
  if (parser.parse(object.data(), object.size(), false).get(element) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return element;
}

/// The value under a key, or nothing (also for null and when `of` is not an object).
[[nodiscard]] inline std::optional<JsonElement> member(JsonElement of, std::string_view key) {
  JsonElement value;
  if (of.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

/// A string, or "" for anything else.
[[nodiscard]] inline std::string_view text_of(std::optional<JsonElement> value) {
  std::string_view text;
  if (!value || value->get(text) != simdjson::SUCCESS) return {};
  return text;
}

/// A whole number written as 5, 5.0 or, as Slurm does from 23.02 on, {"set": true, "infinite":
/// false, "number": 5}; nothing when it is not set or infinite.
[[nodiscard]] inline std::optional<std::int64_t> whole_of(std::optional<JsonElement> value) {
  if (!value) return std::nullopt;
  if (value->is_object()) {
    bool flag = false;
    if (value->at_key("set").get(flag) == simdjson::SUCCESS && !flag) return std::nullopt;
    if (value->at_key("infinite").get(flag) == simdjson::SUCCESS && flag) return std::nullopt;
    const auto number = member(*value, "number");
    return number && !number->is_object() ? whole_of(number) : std::nullopt;
  }
  std::int64_t whole = 0;
  if (value->get(whole) == simdjson::SUCCESS) return whole;
  double real = 0;
  if (value->get(real) != simdjson::SUCCESS || std::abs(real) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

/// One job for each object of the array: `add_job` adds it to the builder, or says why not. Errors:
/// those of JsonArray and TraceBuilder; what is not valid JSON is a rejected row.
[[nodiscard]] Result<Trace> read_jobs(JsonArray jobs, const std::string& name,
                                      const ReadOptions& options,
                                      void (*add_job)(JsonElement job, std::uint64_t line,
                                                      TraceBuilder& builder));

}  // namespace schedmate::trace
