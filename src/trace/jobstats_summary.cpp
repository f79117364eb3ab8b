// SPDX-License-Identifier: Apache-2.0
#include "trace/jobstats_summary.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>

#include "trace/json_value.hpp"

namespace schedmate::trace {
namespace {

constexpr std::string_view mark = "JS1:";
constexpr std::size_t longest_comment = std::size_t{64} << 10U;
/// A summary of a thousand nodes has some 300 kB.
constexpr std::size_t longest_summary = std::size_t{4} << 20U;

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

double positive_number(std::optional<JsonElement> value) {
  double real = 0;
  if (!value || value->get(real) != simdjson::SUCCESS || !(real >= 0) || real > 1e18) return 0;
  return real;
}

/// Sum and number of the values of an object, one for each GPU.
struct OfGpus {
  double sum = 0;
  double gpus = 0;
  void add(std::optional<JsonElement> values) {
    simdjson::dom::object object;
    if (!values || values->get(object) != simdjson::SUCCESS) return;
    for (const auto& [gpu, value] : object) {
      sum += positive_number(value);
      ++gpus;
    }
  }
};

}  // namespace

void read_summary(std::string_view comment, AccountedUse& use) {
  if (!comment.starts_with(mark) || comment.size() > longest_comment) return;
  const std::string text = unzipped(from_base64(comment.substr(mark.size())));
  simdjson::dom::parser parser;
  JsonElement summary;
  if (text.empty() || parser.parse(text).get(summary) != simdjson::SUCCESS) return;
  const auto nodes = member(summary, "nodes");
  simdjson::dom::object list;
  if (!nodes || nodes->get(list) != simdjson::SUCCESS) return;
  constexpr double mib = 1024.0 * 1024;
  double memory = 0;
  double cpu_s = 0;
  OfGpus utilisation;
  OfGpus gpu_memory;
  for (const auto& [name, node] : list) {
    memory += positive_number(member(node, "used_memory"));
    cpu_s += positive_number(member(node, "total_time"));
    utilisation.add(member(node, "gpu_utilization"));
    gpu_memory.add(member(node, "gpu_used_memory"));
  }
  if (memory > 0) use.memory_mib = memory / mib;
  if (cpu_s > 0) use.cpu_time = FractionalSeconds(cpu_s);
  if (utilisation.gpus > 0) use.gpu_util_pct = std::min(100.0, utilisation.sum / utilisation.gpus);
  if (gpu_memory.gpus > 0) use.gpu_memory_mib = gpu_memory.sum / gpu_memory.gpus / mib;
}

}  // namespace schedmate::trace
