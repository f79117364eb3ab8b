// SPDX-License-Identifier: Apache-2.0
#include "apps/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr SettingRow defect(std::string_view key, bool Defects::* field, std::string_view effect) {
  return {key, SettingKind::flag, "", "", effect, field};
}

constexpr std::array rows{
    SettingRow{"mode", SettingKind::choice, "repaired", "repaired|reference",
               "reference: the released Lucid simulator with all its defects"},
    SettingRow{"placement", SettingKind::choice, "consolidate", "consolidate|first_fit|spread",
               "which free GPUs a job gets"},
    SettingRow{"overhead_small_s", SettingKind::seconds, "40", "",
               "run time that a preemption adds to a job of up to 8 GPUs"},
    SettingRow{"overhead_large_s", SettingKind::seconds, "60", "",
               "run time that a preemption adds to a larger job"},
    SettingRow{"seed", SettingKind::whole, "1", "", "of everything drawn by lot"},
    SettingRow{"threads", SettingKind::whole, "1", "",
               "virtual clusters replayed at the same time; the results are the same"},
    SettingRow{"strict", SettingKind::flag, "false", "",
               "a bad row of a trace is an error instead of a counted skip"},
    SettingRow{"report", SettingKind::choice, "html", "html|none", "none: no report.html"},
    SettingRow{"state_dir", SettingKind::folder, "", "",
               "where SchedMate keeps its state; empty: schedmate/ in $XDG_STATE_HOME"},
    SettingRow{"store", SettingKind::text, "", "",
               "history of jobs, as sqlite:PATH or redis:HOST:PORT; empty: history.sqlite in "
               "state_dir"},
    SettingRow{"llm.use", SettingKind::text, "none", "",
               "language model that fills gaps of the facts: none or a NAME"},
    SettingRow{"estimate", SettingKind::choice, "calibrated", "calibrated|paper",
               "advise: how a duration is made of past jobs"},
    SettingRow{"similarity", SettingKind::choice, "mixed", "mixed|paper",
               "advise: vector and fields, or plain cosine from 0.90 on as in the paper"},
    SettingRow{"embedder.kind", SettingKind::choice, "lexical", "lexical|openai|replay",
               "what makes vectors of job texts"},
    SettingRow{"embedder.url", SettingKind::text, "", "", "openai: base address of the server"},
    SettingRow{"embedder.model", SettingKind::text, "", "", "openai: model; empty: bge-m3"},
    SettingRow{"embedder.token_file", SettingKind::text, "", "",
               "openai: file with the bearer token in its first line"},
    SettingRow{"embedder.recording", SettingKind::text, "", "",
               "replay: JSON lines of {\"text\": ..., \"vector\": [...]}"},
    defect("defects.survivor_keeps_rate", &Defects::survivor_keeps_rate,
           "of a pair that shares GPUs the younger stays slowed when the older ends"),
    defect("defects.double_counted_queue", &Defects::double_counted_queue,
           "lucid: the wait for the profiler counts twice"),
    defect("defects.util_unit_slip", &Defects::util_unit_slip,
           "the utilisation of a heavy pair is capped at 1 instead of 100 %"),
    defect("defects.late_end", &Defects::late_end,
           "srtf, tiresias, lucid: every run ends one second late"),
    defect("defects.node_echo", &Defects::node_echo,
           "lucid: vcYVn loses a node while the profiler has an extra one"),
    defect("defects.entry_at_submission", &Defects::entry_at_submission,
           "lucid: jobs run in their VC while they are profiled"),
    defect("defects.unranked_arrivals", &Defects::unranked_arrivals,
           "qssf: jobs that meet an empty queue are ranked a second late"),
};

const SettingRow* find_row(std::string_view key) {
  const auto row = std::ranges::find(rows, key, &SettingRow::key);
  return row == rows.end() ? nullptr : &*row;
}

Result<void> check_value(const SettingRow& row, std::string_view value) {
  const auto wrong = [&](std::string_view needed) {
    return fail(ErrorCode::unsupported, fmt::format("{}={}: {}", row.key, value, needed));
  };
  switch (row.kind) {
    case SettingKind::choice: {
      const auto names = split(row.choices, '|');
      if (std::ranges::find(names, value) != names.end()) return {};
      return fail(ErrorCode::not_found, unknown_name(row.key, value, names));
    }
    case SettingKind::flag:
      if (value == "true" || value == "false") return {};
      return wrong("true or false is needed");
    case SettingKind::seconds:
    case SettingKind::whole: {
      const auto number = parse_number<std::int64_t>(value);
      const bool is_count = row.key == "threads";
      if (!number || *number < (is_count ? 1 : 0)) {
        return wrong(is_count ? "a whole number from 1 on is needed"
                              : "a whole number from 0 on is needed");
      }
      if (is_count && *number > 1024) return wrong("at most 1024 threads");
      if (row.kind == SettingKind::seconds && *number > 86'400) return wrong("at most 86400 s");
      return {};
    }
    case SettingKind::folder:
    case SettingKind::text:
      return {};
  }
  return {};
}

}  // namespace

std::span<const SettingRow> setting_rows() { return rows; }

std::string_view unit_of(const SettingRow& row) {
  return row.kind == SettingKind::seconds ? "s" : "";
}

Result<void> Settings::set(std::string_view key, std::string_view value, std::string_view origin) {
  const SettingRow* row = find_row(key);
  if (row == nullptr) {
    std::vector<std::string_view> names;
    for (const SettingRow& each : rows) names.push_back(each.key);
    return fail(ErrorCode::not_found, unknown_name("setting", key, names));
  }
  if (auto ok = check_value(*row, value); !ok) return ok;
  given_[std::string(key)] = {std::string(value), std::string(origin)};
  return {};
}

std::string Settings::text(std::string_view key) const {
  if (const auto found = given_.find(key); found != given_.end()) return found->second.text;
  const SettingRow* row = find_row(key);
  SCHEDMATE_CHECK(row != nullptr, "the code asks for settings that exist");
  if (row->defect == nullptr) return std::string(row->fallback);
  return text("mode") == "reference" ? "true" : "false";
}

std::string Settings::origin(std::string_view key) const {
  if (const auto found = given_.find(key); found != given_.end()) return found->second.origin;
  const SettingRow* row = find_row(key);
  return row != nullptr && row->defect != nullptr ? "mode" : "default";
}

std::int64_t Settings::whole(std::string_view key) const {
  return parse_number<std::int64_t>(text(key)).value_or(0);
}

Defects Settings::defects() const {
  Defects defects;
  for (const SettingRow& row : rows) {
    if (row.defect != nullptr) defects.*row.defect = flag(row.key);
  }
  return defects;
}

}  // namespace schedmate
