// SPDX-License-Identifier: Apache-2.0
#include "service/job_use.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "advisor/record_json.hpp"
#include "base/text.hpp"
#include "service/redaction.hpp"

namespace schedmate::service {
namespace {

double hours_of(Seconds duration) { return static_cast<double>(duration.count()) / 3600; }

/// Of an older record, which has no attempts, the only one that is known.
std::vector<Attempt> attempts_of(const JobRecord& record) {
  if (!record.outcome) return {};
  if (!record.outcome->attempts.empty()) return record.outcome->attempts;
  Attempt only;
  only.start = record.outcome->start;
  only.end = record.outcome->end;
  only.state = record.outcome->state;
  return {only};
}

std::optional<double> share_pct(std::optional<double> used, double given) {
  return used && given > 0 ? std::optional(100 * *used / given) : std::nullopt;
}

nlohmann::json diagnosis_in(const JobRecord& record) {
  if (!record.outcome || record.outcome->log_summary.empty()) return nullptr;
  const auto summary = nlohmann::json::parse(record.outcome->log_summary, nullptr, false);
  if (!summary.is_object() || !summary.contains("diagnosis")) return nullptr;
  return summary["diagnosis"];
}

std::string text_in(const nlohmann::json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return "";
  return object[key].get<std::string>();
}

/// "1:0" and "0:9" as people say them, "" for success.
std::string exit_words(std::string_view code) {
  const std::size_t colon = std::min(code.find(':'), code.size());
  const auto status = parse_number<int>(code.substr(0, colon)).value_or(0);
  const auto signal =
      colon < code.size() ? parse_number<int>(code.substr(colon + 1)).value_or(0) : 0;
  if (signal != 0) return fmt::format("signal {}", signal);
  return status != 0 ? fmt::format("exit code {}", status) : "";
}

std::string scheduler_cause(const JobRecord& record) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> causes = {{
      {"completed", "completed"},
      {"cancelled", "cancelled"},
      {"timeout", "time limit"},
      {"deadline", "deadline"},
      {"out_of_memory", "out of memory"},
      {"node_fail", "node failure"},
      {"boot_fail", "node failure"},
      {"preempted", "preempted"},
  }};
  const std::string word = end_word(record);
  for (const auto& [name, cause] : causes)
    if (word == name) return std::string(cause);
  const auto& attempts = record.outcome->attempts;
  const std::string exit = attempts.empty() ? "" : exit_words(attempts.back().exit_code);
  return exit.empty() ? word : exit;
}

}  // namespace

bool is_lost(const Attempt& attempt) {
  if (attempt.word.starts_with("REQUEUE") || attempt.word == "PREEMPTED") return true;
  return attempt.state != EndState::completed && attempt.state != EndState::cancelled &&
         attempt.state != EndState::unknown;
}

JobUse use_of(const JobRecord& record) {
  JobUse use;
  if (!record.outcome) return use;
  const Outcome& outcome = *record.outcome;
  const auto gpus = static_cast<double>(record.gpus);
  const auto attempts = attempts_of(record);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const Attempt& attempt = attempts[i];
    const bool is_last = i + 1 == attempts.size();
    Seconds held = outcome.duration;
    if (!is_last) held = attempt.start && attempt.end ? *attempt.end - *attempt.start : Seconds(0);
    const double gpu_hours = gpus * hours_of(held);
    use.gpu_hours += gpu_hours;
    if (is_lost(attempt)) use.lost_gpu_hours += gpu_hours;
    if (is_last && outcome.gpu_util_pct && !is_lost(attempt))
      use.idle_gpu_hours = gpu_hours * (1 - *outcome.gpu_util_pct / 100);
  }
  const auto ran = static_cast<double>(outcome.duration.count());
  if (record.time_limit)
    use.limit_pct = share_pct(ran, static_cast<double>(record.time_limit->count()));
  if (outcome.cpu_time)
    use.cpu_pct = share_pct(outcome.cpu_time->count(), ran * static_cast<double>(record.cpus));
  use.memory_pct = share_pct(outcome.memory_mib, record.memory_mib.value_or(0));
  use.gpu_util_pct = outcome.gpu_util_pct;
  return use;
}

std::string end_word(const JobRecord& record) {
  if (!record.outcome) return "";
  const auto& attempts = record.outcome->attempts;
  if (!attempts.empty() && !attempts.back().word.empty()) return lower_case(attempts.back().word);
  return advisor::state_word(record.outcome->state);
}

std::span<const std::string_view> end_words() {
  static constexpr std::array<std::string_view, 13> words = {
      "completed", "failed",   "cancelled", "timeout", "node_fail",    "preempted", "out_of_memory",
      "boot_fail", "deadline", "requeued",  "revoked", "special_exit", "unknown"};
  return words;
}

std::string failure_class_of(const JobRecord& record) {
  return text_in(diagnosis_in(record), "class");
}

std::string cause_of(const JobRecord& record) {
  if (!record.outcome) return "";
  if (record.outcome->state == EndState::completed) return "completed";
  const auto diagnosis = diagnosis_in(record);
  const std::string reason = text_in(diagnosis, "reason");
  if (!reason.empty() && text_in(diagnosis, "class") != "none") return safe_line(reason);
  return scheduler_cause(record);
}

}  // namespace schedmate::service
