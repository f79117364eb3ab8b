// SPDX-License-Identifier: Apache-2.0
#include "ray_live/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/characters.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace schedmate::ray_live {
namespace {

constexpr JsonBounds bounds{.deepest = 24, .most_values = 4'000'000};
constexpr std::size_t most_text = 4096;

/// Half a pair of UTF-16 in a job's log makes the whole answer no JSON: it becomes U+FFFD.
std::string without_lone_halves(std::string_view text) {
  std::string made(text);
  const auto unit_at = [&](std::size_t i) -> std::uint32_t {
    if (i + 6 > made.size() || made[i] != '\\' || made[i + 1] != 'u') return 0;
    std::uint32_t value = 0;
    for (std::size_t k = i + 2; k < i + 6; ++k) {
      const char c = lower_case(std::string_view(&made[k], 1)).front();
      const bool is_hex = is_digit(c) || (c >= 'a' && c <= 'f');
      if (!is_hex) return 0;
      value = value * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return value;
  };
  const auto is_high = [](std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; };
  const auto is_low = [](std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; };
  for (std::size_t i = made.find('\\'); i != std::string::npos; i = made.find('\\', i)) {
    const std::uint32_t unit = unit_at(i);
    if (is_high(unit) && is_low(unit_at(i + 6))) {
      i += 12;
      continue;
    }
    if (is_high(unit) || is_low(unit)) made.replace(i, 6, "\\ufffd");
    i += unit != 0 ? 6 : 2;
  }
  return made;
}

Result<Document> document_of(std::string_view body) {
  auto read = read_json(without_lone_halves(body), bounds);
  if (!read) return fail(ErrorCode::invalid, "Ray's answer: " + read.error().message);
  return read;
}

std::string word(const Document& object, const char* key, std::size_t most = most_text) {
  const Document& value = part(object, key);
  if (!value.is_string()) return {};
  const std::string& text = value.get_ref<const std::string&>();
  std::size_t length = std::min(most, text.size());
  // No half of a character stays at the end.
  const auto is_inside = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
  };
  while (length > 0 && is_inside(length)) --length;
  return text.substr(0, length);
}

/// Milliseconds since 1970 within a thousand years, as seconds.
std::optional<SimTime> instant(const Document& object, const char* key) {
  constexpr std::int64_t most_ms = 32'000'000'000'000;
  const auto number = whole_number(part(object, key));
  if (!number || *number < 0 || *number > most_ms) return std::nullopt;
  return at(*number / 1000);
}

Result<RayStatus> status_of(const Document& object) {
  constexpr std::array<std::pair<std::string_view, RayStatus>, 5> names{
      {{"PENDING", RayStatus::pending},
       {"RUNNING", RayStatus::running},
       {"SUCCEEDED", RayStatus::succeeded},
       {"FAILED", RayStatus::failed},
       {"STOPPED", RayStatus::stopped}}};
  const std::string name = word(object, "status");
  for (const auto& [known, status] : names)
    if (known == name) return status;
  return fail(ErrorCode::invalid, "Ray's answer: a job's status is none that is known");
}

Result<RayJob> job_of(const Document& object) {
  RayJob made;
  made.id = word(object, "submission_id");
  if (made.id.empty()) made.id = word(object, "job_id");
  if (made.id.empty()) return fail(ErrorCode::invalid, "Ray's answer: a job without an id");
  auto status = status_of(object);
  if (!status) return tl::unexpected(status.error());
  made.status = *status;
  const auto submitted = instant(object, "start_time");
  // A driver that nobody submitted may have none.
  made.submitted = submitted.value_or(at(0));
  made.ended = instant(object, "end_time");
  made.entrypoint = word(object, "entrypoint", std::size_t{16} << 10U);
  made.error_type = word(object, "error_type");
  made.message = word(object, "message");
  made.node = word(object, "driver_node_id");
  const Document& metadata = part(object, "metadata");
  made.name = word(metadata, "job_name", 256);
  made.user = word(metadata, "sm_user", 128);
  const auto code = whole_number(part(object, "driver_exit_code"));
  if (code && *code >= -255 && *code <= 255) made.exit_code = static_cast<std::int32_t>(*code);
  return made;
}

RayNode node_of(const Document& object) {
  RayNode made;
  made.id = word(object, "node_id");
  made.ip = word(object, "node_ip");
  made.label = word(part(object, "labels"), "sm-node", 128);
  made.is_alive = word(object, "state") == "ALIVE";
  made.why = word(object, "state_message", 300);
  const Document& resources = part(object, "resources_total");
  if (resources.is_object())
    for (const auto& [name, value] : resources.items())
      if (value.is_number()) made.resources[name] = value.get<double>();
  return made;
}

}  // namespace

Result<RayVersion> read_version(std::string_view body) {
  const auto read = document_of(body);
  if (!read) return tl::unexpected(read.error());
  RayVersion made{word(*read, "ray_version", 64), word(*read, "session_name", 256)};
  if (made.ray.empty())
    return fail(ErrorCode::invalid, "Ray's answer: no version; is that a head of Ray?");
  return made;
}

Result<RayJob> read_job(std::string_view body) {
  return document_of(body).and_then([](const Document& read) { return job_of(read); });
}

Result<std::vector<RayJob>> read_jobs(std::string_view body) {
  const auto read = document_of(body);
  if (!read) return tl::unexpected(read.error());
  if (!read->is_array()) return fail(ErrorCode::invalid, "Ray's answer: no list of jobs");
  std::vector<RayJob> made;
  made.reserve(read->size());
  for (const Document& each : *read) {
    auto job = job_of(each);
    if (!job) return tl::unexpected(job.error());
    made.push_back(std::move(*job));
  }
  return made;
}

Result<std::vector<RayNode>> read_nodes(std::string_view body) {
  const auto read = document_of(body);
  if (!read) return tl::unexpected(read.error());
  const Document& list = part(part(part(*read, "data"), "result"), "result");
  if (!list.is_array()) return fail(ErrorCode::invalid, "Ray's answer: no list of nodes");
  std::vector<RayNode> made;
  for (const Document& each : list) {
    made.push_back(node_of(each));
    if (made.back().id.empty())
      return fail(ErrorCode::invalid, "Ray's answer: a node without an id");
  }
  const auto total = whole_number(part(part(part(*read, "data"), "result"), "total"));
  if (total && *total > std::ssize(made))
    return fail(ErrorCode::invalid, "Ray's answer: not all of its nodes");
  return made;
}

Result<std::map<std::string, double>> read_usage(std::string_view body,
                                                 const std::string& resource) {
  const auto read = document_of(body);
  if (!read) return tl::unexpected(read.error());
  const Document& status = part(part(*read, "data"), "clusterStatus");
  const Document& nodes = part(part(status, "loadMetricsReport"), "usageByNode");
  std::map<std::string, double> made;
  if (nodes.is_null()) return made;  // a head that has just begun
  if (!nodes.is_object()) return fail(ErrorCode::invalid, "Ray's answer: no usage by node");
  const std::string name = camel_case(resource);
  for (const auto& [node, usage] : nodes.items()) {
    const Document& pair = part(usage, name.c_str());
    if (pair.is_array() && !pair.empty() && pair.front().is_number())
      made[node] = std::clamp(pair.front().get<double>(), 0.0, 1e6);
  }
  return made;
}

Result<std::string> read_logs(std::string_view body) {
  const auto read = document_of(body);
  if (!read) return tl::unexpected(read.error());
  const Document& text = part(*read, "logs");
  if (!text.is_string()) return fail(ErrorCode::invalid, "Ray's answer: no log");
  return text.get<std::string>();
}

std::string camel_case(std::string_view name) {
  std::string made;
  bool is_next_large = false;
  for (const char c : name) {
    if (c == '_') {
      is_next_large = !made.empty();
      continue;
    }
    const bool is_small = c >= 'a' && c <= 'z';
    made += is_next_large && is_small ? static_cast<char>(c - 'a' + 'A') : c;
    is_next_large = false;
  }
  return made;
}

bool has_selectors(std::string_view ray_version) {
  const auto parts = split(ray_version, '.');
  constexpr int first_major = 2, first_minor = 49;
  if (parts.size() < 2) return false;
  const int major = parse_number<int>(parts[0]).value_or(0);
  const int minor = parse_number<int>(parts[1]).value_or(0);
  return major > first_major || (major == first_major && minor >= first_minor);
}

}  // namespace schedmate::ray_live
