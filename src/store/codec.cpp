// SPDX-License-Identifier: Apache-2.0
#include "store/codec.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

namespace schedmate::store {
namespace {

using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "vectors are kept little-endian");

/// Runs `read` on the parsed text; whatever is not as we write it is damage.
template <class Read>
auto parsed(std::string_view text, Read read) -> Result<decltype(read(json()))> {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    return fail(ErrorCode::invalid,
                fmt::format("the store is damaged: a record is not valid JSON ({})", error.what()));
  }
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

std::optional<double> number_or_none(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

json seconds_or_null(const std::optional<SimTime>& time) {
  return time ? json(seconds_of(*time)) : json();
}

std::optional<SimTime> time_or_none(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(at(value.get<std::int64_t>()));
}

}  // namespace

std::string fields_to_json(const Fields& fields) {
  return fields.empty() ? "" : json(fields).dump();
}

Result<Fields> fields_from_json(std::string_view text) {
  if (text.empty()) return Fields();
  return parsed(text, [](const json& value) { return value.get<Fields>(); });
}

namespace {

json runs_to_json(const std::map<EndState, std::size_t>& runs) {
  json all = json::object();
  for (const auto& [state, count] : runs) all[std::string(to_string(state))] = count;
  return all;
}

json length_to_json(const std::optional<GivenLength>& length) {
  if (!length) return nullptr;
  return {{"source", length->source},
          {"centre_s", length->centre.count()},
          {"p10_s", length->p10.count()},
          {"p50_s", length->p50.count()},
          {"p90_s", length->p90.count()},
          {"limit_s", length->limit.count()},
          {"told", length->told},
          {"not_known", length->not_known},
          {"risk", length->risk},
          {"early_end", or_null(length->early_end)},
          {"runs", runs_to_json(length->runs_by_state)}};
}

/// Advice of versions that had none has no such key.
std::optional<GivenLength> length_in(const json& advice) {
  const auto found = advice.find("length");
  if (found == advice.end() || found->is_null()) return std::nullopt;
  const auto seconds = [&](const char* key) { return FractionalSeconds(found->at(key)); };
  GivenLength length{.source = found->at("source"),
                     .centre = seconds("centre_s"),
                     .p10 = seconds("p10_s"),
                     .p50 = seconds("p50_s"),
                     .p90 = seconds("p90_s"),
                     .limit = Seconds(found->at("limit_s").get<std::int64_t>()),
                     .told = found->at("told")};
  if (!found->contains("runs")) return length;  // of versions that did not keep these
  length.not_known = found->at("not_known");
  length.risk = found->at("risk");
  length.early_end = number_or_none(found->at("early_end"));
  for (const auto& [state, count] : found->at("runs").items())
    if (const auto known = end_state_named(state)) length.runs_by_state[*known] = count;
  return length;
}

}  // namespace

std::string advice_to_json(const GivenAdvice& advice) {
  json neighbours = json::array();
  for (const auto& neighbour : advice.neighbours) {
    neighbours.push_back(json::array({neighbour.id, neighbour.score, neighbour.why}));
  }
  return json{{"source", advice.source},
              {"mean_s", advice.mean.count()},
              {"p10_s", advice.p10.count()},
              {"p50_s", advice.p50.count()},
              {"p90_s", advice.p90.count()},
              {"gpu_util_pct", or_null(advice.gpu_util_pct)},
              {"gpu_memory_mib", or_null(advice.gpu_memory_mib)},
              {"neighbours", std::move(neighbours)},
              {"length", length_to_json(advice.length)}}
      .dump();
}

Result<GivenAdvice> advice_from_json(std::string_view text) {
  return parsed(text, [](const json& value) {
    const auto seconds = [&](const char* key) { return FractionalSeconds(value.at(key)); };
    GivenAdvice advice{.source = value.at("source"),
                       .mean = seconds("mean_s"),
                       .p10 = seconds("p10_s"),
                       .p50 = seconds("p50_s"),
                       .p90 = seconds("p90_s"),
                       .gpu_util_pct = number_or_none(value.at("gpu_util_pct")),
                       .gpu_memory_mib = number_or_none(value.at("gpu_memory_mib")),
                       .neighbours = {},
                       .length = length_in(value)};
    for (const auto& pair : value.at("neighbours")) {
      advice.neighbours.push_back(
          {pair.at(0), pair.at(1), pair.size() > 2 ? pair.at(2).get<std::string>() : ""});
    }
    return advice;
  });
}

std::string progress_to_json(const std::vector<ProgressPoint>& points) {
  if (points.empty()) return "";
  json all = json::array();
  for (const auto& point : points) {
    all.push_back(json::array({point.since_start.count(), point.step, or_null(point.loss)}));
  }
  return all.dump();
}

Result<std::vector<ProgressPoint>> progress_from_json(std::string_view text) {
  if (text.empty()) return std::vector<ProgressPoint>();
  return parsed(text, [](const json& value) {
    std::vector<ProgressPoint> points;
    for (const auto& point : value) {
      points.push_back({Seconds(point.at(0).get<std::int64_t>()), point.at(1).get<double>(),
                        number_or_none(point.at(2))});
    }
    return points;
  });
}

std::string request_to_json(const JobRecord& record) {
  json object = json::object();
  for (const auto& [key, text] :
       {std::pair("name", &record.name), std::pair("account", &record.account),
        std::pair("qos", &record.qos), std::pair("cluster", &record.cluster),
        std::pair("log", &record.log), std::pair("group", &record.group)}) {
    if (!text->empty()) object[key] = *text;
  }
  if (record.cpus != 0) object["cpus"] = record.cpus;
  if (record.memory_mib) object["memory_mib"] = *record.memory_mib;
  return object.empty() ? "" : object.dump();
}

Result<void> request_from_json(std::string_view text, JobRecord& record) {
  if (text.empty()) return {};
  const auto read = parsed(text, [&](const json& value) {
    record.name = value.value("name", "");
    record.account = value.value("account", "");
    record.qos = value.value("qos", "");
    record.cluster = value.value("cluster", "");
    record.log = value.value("log", "");
    record.group = value.value("group", "");
    record.cpus = value.value("cpus", std::int64_t{0});
    if (value.contains("memory_mib")) record.memory_mib = value.at("memory_mib").get<double>();
    return true;
  });
  return read ? Result<void>() : tl::unexpected(read.error());
}

namespace {

/// [node, CPUs, CPU seconds, memory, of, [[GPU, utilisation, memory, of], ...]]
json node_to_json(const UsedNode& node) {
  json gpus = json::array();
  for (const UsedGpu& gpu : node.gpus)
    gpus.push_back(json::array(
        {gpu.gpu, or_null(gpu.util_pct), or_null(gpu.memory_mib), or_null(gpu.memory_total_mib)}));
  const auto cpu_s = node.cpu_time ? std::optional(node.cpu_time->count()) : std::nullopt;
  return json::array({node.node, node.cpus, or_null(cpu_s), or_null(node.memory_mib),
                      or_null(node.memory_total_mib), std::move(gpus)});
}

UsedNode node_from_json(const json& value) {
  UsedNode node;
  node.node = value.at(0);
  node.cpus = value.at(1);
  if (const auto cpu_s = number_or_none(value.at(2))) node.cpu_time = FractionalSeconds(*cpu_s);
  node.memory_mib = number_or_none(value.at(3));
  node.memory_total_mib = number_or_none(value.at(4));
  for (const json& gpu : value.at(5))
    node.gpus.push_back({gpu.at(0), number_or_none(gpu.at(1)), number_or_none(gpu.at(2)),
                         number_or_none(gpu.at(3))});
  return node;
}

}  // namespace

std::string use_to_json(const Outcome& outcome) {
  json object = json::object();
  if (outcome.cpu_time) object["cpu_time_s"] = outcome.cpu_time->count();
  if (outcome.memory_mib) object["memory_mib"] = *outcome.memory_mib;
  if (outcome.gpu_memory_total_mib) object["gpu_memory_total_mib"] = *outcome.gpu_memory_total_mib;
  if (outcome.energy_j) object["energy_j"] = *outcome.energy_j;
  for (const UsedNode& node : outcome.node_use) object["nodes"].push_back(node_to_json(node));
  for (const Attempt& attempt : outcome.attempts) {
    object["attempts"].push_back(
        json::array({seconds_or_null(attempt.start), seconds_or_null(attempt.end),
                     to_string(attempt.state), attempt.word, attempt.exit_code, attempt.nodes}));
  }
  return object.empty() ? "" : object.dump();
}

Result<void> use_from_json(std::string_view text, Outcome& outcome) {
  if (text.empty()) return {};
  const auto read = parsed(text, [&](const json& value) {
    if (value.contains("cpu_time_s"))
      outcome.cpu_time = FractionalSeconds(value.at("cpu_time_s").get<double>());
    if (value.contains("memory_mib")) outcome.memory_mib = value.at("memory_mib").get<double>();
    if (value.contains("gpu_memory_total_mib"))
      outcome.gpu_memory_total_mib = value.at("gpu_memory_total_mib").get<double>();
    if (value.contains("energy_j")) outcome.energy_j = value.at("energy_j").get<double>();
    for (const json& node : value.value("nodes", json::array()))
      outcome.node_use.push_back(node_from_json(node));
    for (const json& each : value.value("attempts", json::array())) {
      outcome.attempts.push_back(
          {.start = time_or_none(each.at(0)),
           .end = time_or_none(each.at(1)),
           .state = end_state_named(each.at(2).get<std::string>()).value_or(EndState::unknown),
           .word = each.at(3),
           .exit_code = each.at(4),
           .nodes = each.at(5)});
    }
    return true;
  });
  return read ? Result<void>() : tl::unexpected(read.error());
}

std::string_view bytes_of_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::vector<float> floats_of_bytes(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace schedmate::store
