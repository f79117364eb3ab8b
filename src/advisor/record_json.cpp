// SPDX-License-Identifier: Apache-2.0
#include "advisor/record_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/text.hpp"

namespace schedmate::advisor {
namespace {

using nlohmann::ordered_json;

ordered_json seconds_or_null(const std::optional<SimTime>& instant) {
  return instant ? ordered_json(seconds_of(*instant)) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json write(const GivenLength& length) {
  const auto told = [&](FractionalSeconds value) {
    return length.told ? ordered_json(as_known(value.count())) : ordered_json(nullptr);
  };
  return {{"source", length.source},
          {"told", length.told},
          {"p10_s", told(length.p10)},
          {"p50_s", told(length.p50)},
          {"p90_s", told(length.p90)},
          {"time_limit_s",
           length.limit.count() > 0 ? ordered_json(length.limit.count()) : ordered_json(nullptr)}};
}

ordered_json write(const GivenAdvice& advice) {
  ordered_json neighbours = ordered_json::array();
  for (const Neighbour& each : advice.neighbours)
    neighbours.push_back({{"job_id", each.id}, {"score", as_known(each.score)}});
  return {{"source", advice.source},
          {"duration_s",
           {{"mean", as_known(advice.mean.count())},
            {"p10", as_known(advice.p10.count())},
            {"p50", as_known(advice.p50.count())},
            {"p90", as_known(advice.p90.count())}}},
          {"gpu_util_pct", as_known_or_null<ordered_json>(advice.gpu_util_pct)},
          {"gpu_memory_mib", as_known_or_null<ordered_json>(advice.gpu_memory_mib)},
          {"length", advice.length ? write(*advice.length) : ordered_json(nullptr)},
          {"similar", std::move(neighbours)}};
}

ordered_json write(const Attempt& attempt) {
  return {{"start_s", seconds_or_null(attempt.start)},
          {"end_s", seconds_or_null(attempt.end)},
          {"state", state_word(attempt.state)},
          {"scheduler_state", text_or_null(attempt.word)},
          {"exit_code", text_or_null(attempt.exit_code)},
          {"nodes", text_or_null(attempt.nodes)}};
}

}  // namespace

Document attempts_document(std::span<const Attempt> attempts) {
  Document list = Document::array();
  for (const Attempt& each : attempts) list.push_back(write(each));
  return list;
}

namespace {

ordered_json write(const UsedGpu& gpu) {
  return {{"gpu", gpu.gpu},
          {"util_pct", as_known_or_null<ordered_json>(gpu.util_pct)},
          {"memory_mib", as_known_or_null<ordered_json>(gpu.memory_mib)},
          {"memory_total_mib", as_known_or_null<ordered_json>(gpu.memory_total_mib)}};
}

ordered_json write(const UsedNode& node) {
  ordered_json gpus = ordered_json::array();
  for (const UsedGpu& gpu : node.gpus) gpus.push_back(write(gpu));
  return {{"node", node.node},
          {"cpus", node.cpus > 0 ? ordered_json(node.cpus) : nullptr},
          {"cpu_time_s", node.cpu_time ? ordered_json(as_known(node.cpu_time->count())) : nullptr},
          {"memory_mib", as_known_or_null<ordered_json>(node.memory_mib)},
          {"memory_total_mib", as_known_or_null<ordered_json>(node.memory_total_mib)},
          {"gpus", std::move(gpus)}};
}

ordered_json write(const Outcome& outcome) {
  ordered_json nodes = ordered_json::array();
  for (const UsedNode& node : outcome.node_use) nodes.push_back(write(node));
  return {{"state", state_word(outcome.state)},
          {"duration_s", outcome.duration.count()},
          {"start_s", seconds_or_null(outcome.start)},
          {"end_s", seconds_or_null(outcome.end)},
          {"gpu_util_pct", as_known_or_null<ordered_json>(outcome.gpu_util_pct)},
          {"gpu_memory_mib", as_known_or_null<ordered_json>(outcome.gpu_memory_mib)},
          {"cpu_time_s", outcome.cpu_time ? ordered_json(outcome.cpu_time->count()) : nullptr},
          {"memory_mib", as_known_or_null<ordered_json>(outcome.memory_mib)},
          {"attempts", attempts_document(outcome.attempts)},
          {"gpu_memory_total_mib", as_known_or_null<ordered_json>(outcome.gpu_memory_total_mib)},
          {"energy_j", as_known_or_null<ordered_json>(outcome.energy_j)},
          {"node_use", std::move(nodes)}};
}

}  // namespace

Document record_document(const JobRecord& record) {
  Document document = {
      {"schema", "schedmate.job.v1"},
      {"job_id", record.id},
      {"user", record.user},
      {"vc", record.vc},
      {"submit_s", seconds_of(record.submit)},
      {"root", record.root},
      {"workdir", record.workdir},
      {"command", record.command},
      {"branch", record.branch},
      {"gpus", record.gpus},
      {"nodes", record.nodes},
      {"gpu_type", record.gpu_type},
      {"time_limit_s", record.time_limit ? ordered_json(record.time_limit->count()) : nullptr},
      {"name", text_or_null(record.name)},
      {"account", text_or_null(record.account)},
      {"group", text_or_null(record.group)},
      {"qos", text_or_null(record.qos)},
      {"cluster", text_or_null(record.cluster)},
      {"log", text_or_null(record.log)},
      {"cpus", record.cpus > 0 ? ordered_json(record.cpus) : nullptr},
      {"memory_mib", as_known_or_null<ordered_json>(record.memory_mib)},
      {"fields", record.fields},
      {"closure", record.closure},
      {"advice", record.advice ? write(*record.advice) : ordered_json(nullptr)},
      {"outcome", record.outcome ? write(*record.outcome) : ordered_json(nullptr)},
  };
  const auto facts = ordered_json::parse(record.facts_json, nullptr, false);
  document["facts"] = facts.is_discarded() ? ordered_json(nullptr) : facts;
  return document;
}

std::string state_word(EndState state) { return lower_case(to_string(state)); }

Result<EndState> read_state(std::string_view name) {
  const std::string wanted = lower_case(name);
  std::vector<std::string> words;
  for (const EndState state : known_end_states) {
    words.push_back(state_word(state));
    if (words.back() == wanted) return state;
  }
  const std::vector<std::string_view> names(words.begin(), words.end());
  return fail(ErrorCode::not_found, unknown_name("state", name, names));
}

}  // namespace schedmate::advisor
