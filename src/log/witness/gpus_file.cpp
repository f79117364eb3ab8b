// SPDX-License-Identifier: Apache-2.0
#include "log/witness/gpus_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/json.hpp"
#include "log/witness/gpu_load.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view gpus_schema = "schedmate.gpus.v1";
constexpr std::size_t most_readings = 100'000;

/// What is not known is left out.
Json write(const witness::GpuLoad& load) {
  Json json = Json::object();
  const auto put = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  put("gpu_pct", load.gpu_pct);
  put("memory_busy_pct", load.memory_busy_pct);
  put("memory_used_mib", load.memory_used_mib);
  put("memory_total_mib", load.memory_total_mib);
  put("temperature_c", load.temperature_c);
  put("power_w", load.power_w);
  put("clock_mhz", load.clock_mhz);
  put("throttle", load.throttle);
  put("ecc_corrected_volatile", load.ecc_corrected);
  return json;
}

Json write(const GpuState& gpu) {
  Json json = {{"index", gpu.index},
               {"pci", gpu.pci},
               {"uuid", gpu.uuid},
               {"name", gpu.name},
               {"lost", gpu.lost},
               {"error", gpu.error.empty() ? Json(nullptr) : Json(gpu.error)},
               {"recovery_action", or_null<Json>(gpu.recovery_action)},
               {"ecc_uncorrected_volatile", or_null<Json>(gpu.ecc_uncorrected)},
               {"remapped_rows", nullptr},
               {"retirement_pending", or_null<Json>(gpu.retirement_pending)},
               {"nvlinks", Json::array()}};
  if (gpu.remapped)
    json["remapped_rows"] = {{"corrected", gpu.remapped->corrected},
                             {"uncorrected", gpu.remapped->uncorrected},
                             {"pending", gpu.remapped->pending},
                             {"failure", gpu.remapped->failure}};
  for (const NvlinkState& link : gpu.nvlinks)
    json["nvlinks"].push_back({{"link", link.link},
                               {"active", or_null<Json>(link.active)},
                               {"replay", or_null<Json>(link.replay)},
                               {"recovery", or_null<Json>(link.recovery)},
                               {"crc_flit", or_null<Json>(link.crc_flit)},
                               {"crc_data", or_null<Json>(link.crc_data)}});
  return json;
}

// Reading: null and what is absent are not known; another type is a foreign file.
const Json* field(const Json& from, const char* key) {
  if (!from.is_object()) return &from.at(key);  // throws
  const auto held = from.find(key);
  return held == from.end() || held->is_null() ? nullptr : &*held;
}

template <class Value>
std::optional<Value> value_at(const Json& from, const char* key) {
  const Json* const held = field(from, key);
  return held == nullptr ? std::nullopt : std::optional(held->get<Value>());
}

std::string text_at(const Json& from, const char* key) {
  return value_at<std::string>(from, key).value_or("");
}

Json list_at(const Json& from, const char* key) {
  const Json* const held = field(from, key);
  return held == nullptr ? Json::array() : *held;
}

NvlinkState read_link(const Json& from) {
  const auto errors = [&](const char* key) { return value_at<std::uint64_t>(from, key); };
  return {value_at<unsigned>(from, "link").value_or(0),
          value_at<bool>(from, "active"),
          errors("replay"),
          errors("recovery"),
          errors("crc_flit"),
          errors("crc_data")};
}

witness::GpuLoad read_load(const Json& from) {
  const auto number = [&](const char* key) { return value_at<double>(from, key); };
  const auto count = [&](const char* key) { return value_at<std::uint64_t>(from, key); };
  return {number("gpu_pct"),          number("memory_busy_pct"), number("memory_used_mib"),
          number("memory_total_mib"), number("temperature_c"),   number("power_w"),
          number("clock_mhz"),        count("throttle"),         count("ecc_corrected_volatile")};
}

GpuState read_gpu(const Json& from) {
  GpuState gpu;
  gpu.index = value_at<unsigned>(from, "index").value_or(0);
  gpu.pci = text_at(from, "pci");
  gpu.uuid = text_at(from, "uuid");
  gpu.name = text_at(from, "name");
  gpu.lost = value_at<bool>(from, "lost").value_or(false);
  gpu.error = text_at(from, "error");
  gpu.recovery_action = value_at<std::uint64_t>(from, "recovery_action");
  gpu.ecc_uncorrected = value_at<std::uint64_t>(from, "ecc_uncorrected_volatile");
  if (const Json* const rows = field(from, "remapped_rows"))
    gpu.remapped = RemappedRows{value_at<std::uint64_t>(*rows, "corrected").value_or(0),
                                value_at<std::uint64_t>(*rows, "uncorrected").value_or(0),
                                value_at<bool>(*rows, "pending").value_or(false),
                                value_at<bool>(*rows, "failure").value_or(false)};
  gpu.retirement_pending = value_at<bool>(from, "retirement_pending");
  for (const Json& link : list_at(from, "nvlinks")) gpu.nvlinks.push_back(read_link(link));
  return gpu;
}

GpuReading read_one(const Json& from) {
  GpuReading made;
  made.node = text_at(from, "node");
  made.library = text_at(from, "library");
  made.driver = text_at(from, "driver");
  made.error = text_at(from, "error");
  for (const Json& gpu : list_at(from, "gpus")) made.gpus.push_back(read_gpu(gpu));
  return made;
}

Json readings_in(const Json& document) {
  if (document.is_array()) return document;
  if (document.is_object() && document.value("schema", "") == gpus_schema) return {document};
  return document.is_object() ? list_at(document, "nvml") : Json();
}

}  // namespace

Document witness::gpus_document(const GpuReading& reading) {
  Document json = {{"schema", gpus_schema},
                   {"node", reading.node},
                   {"library", reading.library},
                   {"driver", reading.driver},
                   {"error", reading.error.empty() ? Json(nullptr) : Json(reading.error)},
                   {"gpus", Json::array()}};
  for (const GpuState& gpu : reading.gpus) json["gpus"].push_back(write(gpu));
  return json;
}

std::string gpus_json(const GpuReading& reading) {
  return indented(witness::gpus_document(reading));
}

Result<std::vector<GpuReading>> witness::read_gpus_text(std::string_view text) {
  try {
    const Json list = readings_in(Json::parse(text));
    std::vector<GpuReading> readings;
    for (const Json& each : list) {
      if (!each.is_object() || text_at(each, "schema") != gpus_schema ||
          list.size() > most_readings)
        return fail(ErrorCode::invalid, fmt::format("no {} document", gpus_schema));
      readings.push_back(read_one(each));
    }
    if (!readings.empty()) return readings;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::invalid, fmt::format("no {} document: {}", gpus_schema, error.what()));
  }
  return fail(ErrorCode::invalid, fmt::format("no {} document", gpus_schema));
}

Document witness::loaded_gpus_document(const LoadedGpus& gpus) {
  Document json = gpus_document(gpus.reading);
  for (std::size_t i = 0; i < gpus.loads.size() && i < json["gpus"].size(); ++i)
    json["gpus"][i]["load"] = write(gpus.loads[i]);
  return json;
}

Result<witness::LoadedGpus> witness::read_loaded_gpus(std::string_view text) {
  auto readings = read_gpus_text(text);
  if (!readings) return tl::unexpected(readings.error());
  LoadedGpus made{std::move(readings->back()), {}};
  try {
    const Json document = readings_in(Json::parse(text)).back();
    for (const Json& gpu : list_at(document, "gpus")) {
      const Json* const load = field(gpu, "load");
      made.loads.push_back(load == nullptr ? GpuLoad{} : read_load(*load));
    }
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::invalid, fmt::format("no {} document: {}", gpus_schema, error.what()));
  }
  return made;
}

Result<std::vector<GpuReading>> read_gpus_file(const ForeignPath& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;
  const auto text = read_file(path, most_bytes);
  if (!text) return tl::unexpected(text.error());
  auto readings = witness::read_gpus_text(*text);
  if (!readings)
    return fail(ErrorCode::invalid,
                fmt::format("{}: {} (schedmate diagnose --nvml --json writes one)", path.name,
                            readings.error().message));
  return readings;
}

}  // namespace schedmate
