// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What both readers of `sacct --json` need of a job's object.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/json_value.hpp"

namespace schedmate::trace {

/// The state that matters: {"current": "FAILED"} or {"current": ["CANCELLED", "COMPLETING"]}.
[[nodiscard]] inline std::string_view state_of(JsonElement job) {
  auto state = member(job, "state");
  if (state && state->is_object()) state = member(*state, "current");
  if (!state || !state->is_array()) return text_of(state);
  simdjson::dom::array names;
  if (state->get(names) != simdjson::SUCCESS) return {};
  for (const JsonElement name : names) return text_of(name);
  return {};
}

/// "123", or "120_3" for a task of an array, as the text form of sacct prints it.
[[nodiscard]] inline std::string_view print_id(JsonElement job, std::array<char, 64>& out) {
  const auto id = whole_of(member(job, "job_id"));
  if (!id) return {};
  const auto array = member(job, "array");
  const auto whole = array ? whole_of(member(*array, "job_id")) : std::nullopt;
  auto task = array ? whole_of(member(*array, "task_id")) : std::nullopt;
  if (array && !task) task = whole_of(member(*array, "task"));  // 21.08 to 22.05
  const auto end = whole.value_or(0) > 0 && task
                       ? fmt::format_to_n(out.begin(), out.size(), "{}_{}", *whole, *task)
                       : fmt::format_to_n(out.begin(), out.size(), "{}", *id);
  return {out.data(), std::min(end.size, out.size())};
}

}  // namespace schedmate::trace
