// SPDX-License-Identifier: Apache-2.0
#include "trace/jobstats_summary.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "trace/json_value.hpp"

namespace schedmate::trace {
namespace {

constexpr std::string_view mark = "JS1:";
constexpr std::size_t longest_comment = std::size_t{64} << 10U;
/// A summary of a thousand nodes has some 300 kB.
constexpr std::size_t longest_summary = std::size_t{4} << 20U;
constexpr std::size_t most_nodes = 1024;
constexpr std::size_t most_gpus_of_a_node = 64;
constexpr std::size_t longest_unit_name = 256;

/// "" for what is not base64.
std::string from_base64(std::string_view text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) return {};
    held = (held << 6U) | static_cast<unsigned>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((held >> static_cast<unsigned>(bits)) & 0xFFU);
  }
  return bytes;
}

/// "" for a stream that is damaged, cut off or too long.
std::string unzipped(std::string bytes) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (::inflateInit2(&stream, gzip_window) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::array<char, 16384> out{};
  int status = Z_OK;
  while (status == Z_OK && text.size() <= longest_summary) {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    text.append(out.data(), out.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  return status == Z_STREAM_END && text.size() <= longest_summary ? text : std::string();
}

/// Neither negative nor beyond what anybody could have measured.
std::optional<double> plausible(std::optional<JsonElement> value) {
  constexpr double most = 1e18;
  double real = 0;
  if (!value || value->get(real) != simdjson::SUCCESS || !(real >= 0) || real > most)
    return std::nullopt;
  return real;
}

constexpr double mib = 1024.0 * 1024;

std::optional<double> memory_in(JsonElement node, std::string_view key) {
  const auto bytes = plausible(member(node, key));
  return bytes ? std::optional(*bytes / mib) : std::nullopt;
}

/// Calls `take` with each GPU and its value in one of a node's objects, "0": 12.5.
template <class Take>
void each_gpu(JsonElement node, std::string_view key, UsedNode& use, Take take) {
  const auto values = member(node, key);
  simdjson::dom::object object;
  if (!values || values->get(object) != simdjson::SUCCESS) return;
  std::size_t seen = 0;
  for (const auto& [gpu, value] : object) {
    if (++seen > most_gpus_of_a_node) return;
    const auto number = plausible(value);
    if (!number) continue;
    const std::string name(gpu.substr(0, longest_unit_name));
    auto place = std::ranges::find(use.gpus, name, &UsedGpu::gpu);
    if (place == use.gpus.end()) {
      if (use.gpus.size() == most_gpus_of_a_node) return;
      place = use.gpus.insert(use.gpus.end(), UsedGpu{name, {}, {}, {}});
    }
    take(*place, *number);
  }
}

UsedNode read_node(std::string_view name, JsonElement node) {
  UsedNode use;
  use.node = std::string(name.substr(0, longest_unit_name));
  constexpr double most_cpus = 1e6;
  const double cpus = plausible(member(node, "cpus")).value_or(0);
  if (cpus <= most_cpus) use.cpus = static_cast<std::int64_t>(cpus);
  if (const auto seconds = plausible(member(node, "total_time")))
    use.cpu_time = FractionalSeconds(*seconds);
  use.memory_mib = memory_in(node, "used_memory");
  use.memory_total_mib = memory_in(node, "total_memory");
  each_gpu(node, "gpu_utilization", use,
           [](UsedGpu& gpu, double value) { gpu.util_pct = std::min(100.0, value); });
  each_gpu(node, "gpu_used_memory", use,
           [](UsedGpu& gpu, double value) { gpu.memory_mib = value / mib; });
  each_gpu(node, "gpu_total_memory", use,
           [](UsedGpu& gpu, double value) { gpu.memory_total_mib = value / mib; });
  // As numbers: 2 comes before 10.
  std::ranges::stable_sort(use.gpus, {}, [](const UsedGpu& gpu) {
    return std::pair(gpu.gpu.size(), std::string_view(gpu.gpu));
  });
  return use;
}

struct Mean {
  double sum = 0, count = 0;
  void add(const std::optional<double>& value) {
    if (value) sum += *value, ++count;
  }
  [[nodiscard]] std::optional<double> value() const {
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }
};

/// The whole job, from its nodes.
class Totals {
 public:
  void add(const UsedNode& node) {
    memory_ += node.memory_mib.value_or(0);
    if (node.cpu_time) cpu_s_ += node.cpu_time->count();
    for (const UsedGpu& gpu : node.gpus) {
      util_.add(gpu.util_pct);
      gpu_memory_.add(gpu.memory_mib);
      gpu_memory_total_.add(gpu.memory_total_mib);
    }
  }
  void put_into(AccountedUse& use) const {
    if (memory_ > 0) use.memory_mib = memory_;
    if (cpu_s_ > 0) use.cpu_time = FractionalSeconds(cpu_s_);
    if (const auto util = util_.value()) use.gpu_util_pct = util;
    if (const auto memory = gpu_memory_.value()) use.gpu_memory_mib = memory;
    use.gpu_memory_total_mib = gpu_memory_total_.value();
  }

 private:
  double memory_ = 0, cpu_s_ = 0;
  Mean util_, gpu_memory_, gpu_memory_total_;
};

}  // namespace

std::string read_summary(std::string_view comment, AccountedUse& use) {
  if (!comment.starts_with(mark)) return {};
  const std::string_view packed = comment.substr(mark.size());
  if (packed == "Short" || packed == "None") return {};  // too short a run; nothing was measured
  if (comment.size() > longest_comment) return "not read: it is longer than 64 KiB";
  const std::string bytes = from_base64(packed);
  if (bytes.empty()) return "not read: it is no base64 (cut off?)";
  const std::string text = unzipped(bytes);
  if (text.empty()) return "not read: its gzip data are damaged, cut off or longer than 4 MiB";
  simdjson::dom::parser parser;
  JsonElement summary;
  if (parser.parse(text).get(summary) != simdjson::SUCCESS) return "not read: it holds no JSON";
  const auto nodes = member(summary, "nodes");
  simdjson::dom::object list;
  if (!nodes || nodes->get(list) != simdjson::SUCCESS) return "not read: its JSON has no nodes";
  Totals totals;
  use.nodes.clear();
  std::size_t count = 0;
  for (const auto& [name, node] : list) {
    UsedNode each = read_node(name, node);
    totals.add(each);
    if (++count <= most_nodes) use.nodes.push_back(std::move(each));
  }
  totals.put_into(use);
  if (count <= most_nodes) return {};
  return fmt::format("of its {} nodes the first {} are kept one by one", count, most_nodes);
}

}  // namespace schedmate::trace
