// SPDX-License-Identifier: Apache-2.0
#include "probe/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/characters.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate::probe {
namespace {

constexpr std::array<std::string_view, 3> severity_names = {"note", "application", "fault"};

// One list of fields for both ways, so that they cannot differ.
struct NumberField {
  const char* name;
  std::optional<double> GpuSample::* value;
  double most;
};
constexpr double percent = 100, mib = 1e8;
constexpr std::array number_fields = {
    NumberField{"used_pct", &GpuSample::used_pct, percent},
    NumberField{"memory_busy_pct", &GpuSample::memory_busy_pct, percent},
    NumberField{"memory_used_mib", &GpuSample::memory_used_mib, mib},
    NumberField{"memory_total_mib", &GpuSample::memory_total_mib, mib},
    NumberField{"temperature_c", &GpuSample::temperature_c, 200},
    NumberField{"power_w", &GpuSample::power_w, 1e5},
    NumberField{"clock_mhz", &GpuSample::clock_mhz, 1e5},
};
struct CountField {
  const char* name;
  std::optional<std::uint64_t> GpuSample::* value;
};
constexpr std::array count_fields = {
    CountField{"throttle", &GpuSample::throttle},
    CountField{"ecc_corrected", &GpuSample::ecc_corrected},
    CountField{"ecc_uncorrected", &GpuSample::ecc_uncorrected},
    CountField{"nvlink_recoveries", &GpuSample::nvlink_recoveries},
    CountField{"nvlink_replays", &GpuSample::nvlink_replays},
    CountField{"last_xid", &GpuSample::last_xid},
    CountField{"recovery_action", &GpuSample::recovery_action},
};

// Writing: what is not known is left out.

Document gpu_document(const GpuSample& gpu) {
  Document made{{"index", gpu.index}};
  if (!gpu.pci.empty()) made["pci"] = gpu.pci;
  for (const NumberField& field : number_fields)
    if (const auto& value = gpu.*field.value) made[field.name] = std::round(*value * 10) / 10;
  for (const CountField& field : count_fields)
    if (const auto& value = gpu.*field.value) made[field.name] = *value;
  if (gpu.nvlinks_down) made["nvlinks_down"] = *gpu.nvlinks_down;
  if (gpu.lost) made["lost"] = true;
  if (!gpu.error.empty()) made["error"] = shown(gpu.error);
  return made;
}

Document event_document(const KernelEvent& event) {
  Document made{{"at_s", event.at_s},
                {"rule", event.rule},
                {"severity", name_of(event.severity)},
                {"text", shown(event.text)},
                {"times", event.times}};
  if (event.xid) made["xid"] = *event.xid;
  if (event.gpu) made["gpu"] = *event.gpu;
  if (!event.job.empty()) made["job"] = event.job;
  return made;
}

// Reading: another type is what is absent.

std::optional<double> number_at(const Document& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::uint64_t> count_at(const Document& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::int64_t whole_at(const Document& from, const char* name) {
  const auto found = from.find(name);
  return found == from.end() || !found->is_number_integer() ? 0 : found->get<std::int64_t>();
}

std::string text_at(const Document& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_string()) return {};
  return shown(found->get_ref<const std::string&>());
}

std::optional<unsigned> index_at(const Document& from, const char* name) {
  constexpr std::uint64_t most = 100'000;
  const auto found = count_at(from, name);
  if (!found || *found > most) return std::nullopt;
  return static_cast<unsigned>(*found);
}

template <class Take>
Result<void> each_of(const Document& from, const char* name, std::size_t most, const Take& take) {
  const auto found = from.find(name);
  if (found == from.end()) return {};
  if (!found->is_array() || found->size() > most)
    return fail(ErrorCode::invalid, fmt::format("\"{}\" is no list of at most {}", name, most));
  for (const Document& each : *found) {
    if (!each.is_object())
      return fail(ErrorCode::invalid, fmt::format("\"{}\" holds what is no object", name));
    take(each);
  }
  return {};
}

GpuSample read_gpu(const Document& from) {
  GpuSample gpu;
  gpu.index = index_at(from, "index").value_or(0);
  gpu.pci = pci_address(text_at(from, "pci"));
  for (const NumberField& field : number_fields) gpu.*field.value = number_at(from, field.name);
  for (const CountField& field : count_fields) gpu.*field.value = count_at(from, field.name);
  gpu.nvlinks_down = index_at(from, "nvlinks_down");
  gpu.lost = from.value("lost", Document(false)) == Document(true);
  gpu.error = text_at(from, "error");
  clean(gpu);
  return gpu;
}

Result<Sample> read_sample(const Document& from) {
  Sample sample;
  sample.at_s = whole_at(from, "at_s");
  sample.error = text_at(from, "error");
  auto read = each_of(from, "gpus", most_gpus,
                      [&](const Document& gpu) { sample.gpus.push_back(read_gpu(gpu)); });
  if (!read) return tl::unexpected(read.error());
  return sample;
}

KernelEvent read_event(const Document& from) {
  KernelEvent event;
  event.at_s = whole_at(from, "at_s");
  event.rule = text_at(from, "rule");
  const auto severity = text_at(from, "severity");
  const auto* const named = std::ranges::find(severity_names, severity);
  if (named != severity_names.end())
    event.severity = static_cast<Severity>(named - severity_names.begin());
  event.xid = index_at(from, "xid");
  event.gpu = index_at(from, "gpu");
  event.job = text_at(from, "job");
  event.text = text_at(from, "text");
  event.times = count_at(from, "times").value_or(1);
  return event;
}

}  // namespace

std::string_view name_of(Severity severity) {
  return severity_names.at(static_cast<std::size_t>(severity));
}

std::string shown(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto next = length == 0 ? std::string_view("?") : text.substr(at, length);
    if (made.size() + next.size() > longest_text) break;
    made += next;
    at += std::max<std::size_t>(length, 1);
  }
  return made;
}

void clean(GpuSample& gpu) {
  for (const NumberField& field : number_fields)
    if (auto& value = gpu.*field.value; value && !(*value >= 0 && *value <= field.most))
      value.reset();
  if (gpu.memory_total_mib == 0.0) gpu.memory_total_mib.reset();
  if (gpu.memory_used_mib && gpu.memory_total_mib && *gpu.memory_used_mib > *gpu.memory_total_mib)
    gpu.memory_used_mib.reset();
}

std::string report_text(const Report& report) {
  Document samples = Document::array();
  for (const Sample& sample : report.samples) {
    Document gpus = Document::array();
    for (const GpuSample& gpu : sample.gpus) gpus.push_back(gpu_document(gpu));
    Document made{{"at_s", sample.at_s}, {"gpus", std::move(gpus)}};
    if (!sample.error.empty()) made["error"] = shown(sample.error);
    samples.push_back(std::move(made));
  }
  Document events = Document::array();
  for (const KernelEvent& event : report.events) events.push_back(event_document(event));
  const Document made{{"every_s", report.every_s},
                      {"samples", std::move(samples)},
                      {"events", std::move(events)},
                      {"dropped_samples", report.dropped_samples},
                      {"dropped_events", report.dropped_events},
                      {"skipped_bytes", report.skipped_bytes},
                      {"kernel_error", shown(report.kernel_error)}};
  return made.dump(-1, ' ', false, Document::error_handler_t::replace);
}

Result<Report> read_report(std::string_view text) {
  constexpr JsonBounds bounds{.deepest = 6, .most_values = 100'000};
  const auto document = read_json(text, bounds);
  if (!document) return tl::unexpected(document.error());
  if (!document->is_object()) return fail(ErrorCode::invalid, "no JSON object");
  Report report;
  constexpr std::int64_t longest_interval = 3600;
  report.every_s = std::clamp<std::int64_t>(whole_at(*document, "every_s"), 1, longest_interval);
  Result<void> inner;
  auto read = each_of(*document, "samples", most_samples, [&](const Document& each) {
    auto sample = read_sample(each);
    if (sample)
      report.samples.push_back(std::move(*sample));
    else
      inner = tl::unexpected(sample.error());
  });
  if (!read || !inner) return tl::unexpected(!read ? read.error() : inner.error());
  read = each_of(*document, "events", most_events,
                 [&](const Document& each) { report.events.push_back(read_event(each)); });
  if (!read) return tl::unexpected(read.error());
  report.dropped_samples = count_at(*document, "dropped_samples").value_or(0);
  report.dropped_events = count_at(*document, "dropped_events").value_or(0);
  report.skipped_bytes = count_at(*document, "skipped_bytes").value_or(0);
  report.kernel_error = text_at(*document, "kernel_error");
  return report;
}

Sample sample_of(const witness::LoadedGpus& gpus, std::int64_t at_s) {
  const GpuReading& reading = gpus.reading;
  Sample sample{at_s, shown(reading.error), {}};
  for (const GpuState& gpu : reading.gpus) {
    if (sample.gpus.size() == most_gpus) break;
    GpuSample made;
    made.index = gpu.index;
    made.pci = pci_address(gpu.pci);
    made.lost = gpu.lost;
    made.error = gpu.error;
    made.ecc_uncorrected = gpu.ecc_uncorrected;
    made.recovery_action = gpu.recovery_action;
    if (const std::size_t place = sample.gpus.size(); place < gpus.loads.size()) {
      const witness::GpuLoad& load = gpus.loads[place];
      made.used_pct = load.gpu_pct;
      made.memory_busy_pct = load.memory_busy_pct;
      made.memory_used_mib = load.memory_used_mib;
      made.memory_total_mib = load.memory_total_mib;
      made.temperature_c = load.temperature_c;
      made.power_w = load.power_w;
      made.clock_mhz = load.clock_mhz;
      made.throttle = load.throttle;
      made.ecc_corrected = load.ecc_corrected;
    }
    for (const NvlinkState& link : gpu.nvlinks) {
      const auto add = [](auto& sum, auto more) { sum = sum.value_or(0) + more; };
      if (link.active) add(made.nvlinks_down, *link.active ? 0U : 1U);
      if (link.recovery) add(made.nvlink_recoveries, *link.recovery);
      if (link.replay) add(made.nvlink_replays, *link.replay);
    }
    clean(made);
    sample.gpus.push_back(std::move(made));
  }
  return sample;
}

std::string pci_address(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3) return {};
  std::string_view domain = parts[0];
  constexpr std::size_t digits = 4;
  while (domain.size() > digits && domain.front() == '0') domain.remove_prefix(1);
  const auto device = parts[2].substr(0, parts[2].find('.'));
  const auto is_hex = [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); };
  for (const auto& [part, size] : {std::pair{domain, digits}, std::pair{parts[1], std::size_t{2}},
                                   std::pair{device, std::size_t{2}}})
    if (part.size() < size || part.size() > 2 * digits || !std::ranges::all_of(part, is_hex))
      return {};
  return lower_case(fmt::format("{}:{}:{}", domain, parts[1], device));
}

}  // namespace schedmate::probe
