// SPDX-License-Identifier: Apache-2.0
#include "service/job_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "advisor/record_json.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "secrets/outgoing.hpp"

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

std::string in_a_row(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "66, 65, ---" of all GPUs, "" where nobody measured one.
template <class Value, class Words>
std::string listed(const std::vector<UsedGpu>& gpus, Value value, Words words) {
  std::vector<std::string> parts;
  bool any = false;
  for (const UsedGpu& gpu : gpus) {
    const std::optional<double> number = value(gpu);
    any = any || number;
    parts.push_back(number ? words(*number) : "---");
  }
  return any ? in_a_row(parts) : "";
}

std::string whole(double number) { return fmt::format("{:.0f}", number); }

std::optional<double> share_of_memory(const UsedGpu& gpu) {
  return share_pct(gpu.memory_mib, gpu.memory_total_mib.value_or(0));
}

/// "66, 1 % of 40 GiB"; without what they have, "26 GiB, 1 GiB".
std::string memory_words(const std::vector<UsedGpu>& gpus) {
  const std::string shares = listed(gpus, share_of_memory, whole);
  if (shares.empty())
    return listed(gpus, [](const UsedGpu& gpu) { return gpu.memory_mib; }, mib_in_words);
  const auto& first = gpus.front().memory_total_mib;
  const bool are_alike = first && std::ranges::all_of(gpus, [&](const UsedGpu& gpu) {
                           return gpu.memory_total_mib == first;
                         });
  return shares + (are_alike ? " % of " + mib_in_words(*first) : " %");
}

/// "GPU 0, 1: 66, 65 % busy; memory 66, 1 % of 40 GiB".
std::string gpu_words(const std::vector<UsedGpu>& gpus) {
  if (gpus.empty()) return "";
  std::vector<std::string_view> names;
  for (const UsedGpu& gpu : gpus) names.push_back(gpu.gpu);
  std::vector<std::string> parts;
  if (const auto busy = listed(
          gpus, [](const UsedGpu& gpu) { return gpu.util_pct; }, whole);
      !busy.empty())
    parts.push_back(busy + " % busy");
  if (const auto memory = memory_words(gpus); !memory.empty()) parts.push_back("memory " + memory);
  if (parts.empty()) return "";
  return fmt::format("GPU {}: {}", fmt::join(names, ", "), fmt::join(parts, "; "));
}

std::string node_words(const UsedNode& node, Seconds ran) {
  std::vector<std::string> parts;
  const auto given = static_cast<double>(node.cpus) * static_cast<double>(ran.count());
  if (node.cpu_time && given > 0)
    parts.push_back(
        fmt::format("CPU {:.0f} % of {}", 100 * node.cpu_time->count() / given, node.cpus));
  else if (node.cpu_time)
    parts.push_back("CPU time " + in_words(*node.cpu_time));
  if (const auto share = share_pct(node.memory_mib, node.memory_total_mib.value_or(0)))
    parts.push_back(fmt::format("memory {:.0f} % ({} of {})", *share,
                                mib_in_words(*node.memory_mib),
                                mib_in_words(*node.memory_total_mib)));
  else if (node.memory_mib)
    parts.push_back("memory " + mib_in_words(*node.memory_mib));
  return fmt::format("{}: {}", node.node, parts.empty() ? "nothing measured" : in_a_row(parts));
}

}  // namespace

std::optional<std::int64_t> cpus_per_node(const JobRecord& record) {
  if (record.cpus <= 0 || record.nodes <= 0 || record.cpus % record.nodes != 0) return std::nullopt;
  return record.cpus / record.nodes;
}

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
  use.gpu_memory_pct = share_pct(outcome.gpu_memory_mib, outcome.gpu_memory_total_mib.value_or(0));
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
  if (!reason.empty() && text_in(diagnosis, "class") != "none") return secrets::safe_line(reason);
  return scheduler_cause(record);
}

void fill_use(const Outcome& from, Outcome& into) {
  if (!into.cpu_time) into.cpu_time = from.cpu_time;
  for (const auto member : {&Outcome::memory_mib, &Outcome::gpu_util_pct, &Outcome::gpu_memory_mib,
                            &Outcome::gpu_memory_total_mib, &Outcome::energy_j})
    if (!(into.*member)) into.*member = from.*member;
  if (into.node_use.empty()) into.node_use = from.node_use;
}

std::string asked_words(const JobRecord& record) {
  if (record.id.empty()) return "";
  std::vector<std::string> asked = {counted(record.gpus, "GPU"), counted(record.nodes, "node")};
  if (!record.gpu_type.empty()) asked[0] += " (" + record.gpu_type + ")";
  const auto each = record.nodes > 1 ? cpus_per_node(record) : std::nullopt;
  if (record.cpus > 0) asked.push_back(counted(record.cpus, "CPU"));
  if (each) asked.back() += fmt::format(" ({} a node)", *each);
  if (record.memory_mib) asked.push_back(mib_in_words(*record.memory_mib));
  if (record.time_limit) asked.push_back("limit " + in_words(*record.time_limit));
  const std::string where = record.vc + (record.qos.empty() ? "" : "/" + record.qos);
  if (!where.empty()) asked.push_back(where);
  if (!record.cluster.empty()) asked.push_back("cluster " + record.cluster);
  return in_a_row(asked);
}

std::string cost_words(const JobRecord& record, const JobUse& use) {
  std::vector<std::string> cost;
  if (record.gpus > 0) cost.push_back(fmt::format("{:.3g} GPU-hours held", use.gpu_hours));
  if (record.gpus > 0 && use.idle_gpu_hours)
    cost.push_back(fmt::format("{:.3g} of them idle", *use.idle_gpu_hours));
  if (use.lost_gpu_hours > 0) cost.push_back(fmt::format("{:.3g} lost", use.lost_gpu_hours));
  if (record.outcome && record.outcome->energy_j)
    cost.push_back(energy_in_words(*record.outcome->energy_j));
  return in_a_row(cost);
}

std::vector<NodeWords> words_of_nodes(const JobRecord& record) {
  std::vector<NodeWords> words;
  if (!record.outcome) return words;
  for (const UsedNode& node : record.outcome->node_use)
    words.push_back({node_words(node, record.outcome->duration), gpu_words(node.gpus)});
  return words;
}

}  // namespace schedmate::service
