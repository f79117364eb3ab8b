// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace schedmate::trace {
namespace {

std::string quoted_toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace

std::string cluster_toml(const ClusterSpec& cluster) {
  std::string text;
  for (const PartitionSpec& vc : cluster.partitions) {
    text += fmt::format("[[vc]]\nname = {}\nnodes = {}\ngpus_per_node = {}\n", quoted_toml(vc.name),
                        vc.nodes, vc.gpus_per_node);
    text += fmt::format("gpu_memory_mib = {}\n", vc.gpu_memory_mib);
    if (!vc.gpu_type.empty()) text += fmt::format("gpu_type = {}\n", quoted_toml(vc.gpu_type));
    if (vc.round > Seconds(1)) text += fmt::format("round_s = {}\n", vc.round.count());
    text += "\n";
  }
  return text;
}

std::string quoted_csv(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string helios_state(EndState state) {
  std::string name(to_string(state));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace schedmate::trace
