// SPDX-License-Identifier: Apache-2.0

/// VC files of the Lucid and Helios simulators: one row a virtual cluster, its name and its nodes
/// of 8 GPUs. docs/formats/cluster.md.

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <set>
#include <system_error>

#include "trace/csv.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {

Result<ClusterSpec> parse_vc_file(std::string_view text, const std::string& name) {
  auto rows = CsvRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->header().size() != 2) {
    return fail(ErrorCode::invalid,
                fmt::format("{}:1: the file must have two columns, VC and number of nodes", name));
  }
  ClusterSpec cluster;
  std::set<std::string, std::less<>> names;
  while (rows->next()) {
    const auto bad = [&](std::string_view why, Column column) {
      return fail(ErrorCode::invalid,
                  fmt::format("{}:{}:{}: {}", name, rows->line(), rows->position(column), why));
    };
    if (!rows->fault().empty()) return bad(rows->fault(), 0);
    const auto nodes = parse_whole(rows->field(1));
    if (!nodes || *nodes < 1 || *nodes > most_gpus) return bad("must be 1 to 1,000,000 nodes", 1);
    if (rows->field(0).empty()) return bad("a VC needs a name", 0);
    if (!names.emplace(rows->field(0)).second) return bad("a VC of this name is already listed", 0);
    PartitionSpec spec;
    spec.name = rows->field(0);
    spec.nodes = static_cast<int>(*nodes);
    cluster.partitions.push_back(std::move(spec));
  }
  if (!cluster.partitions.empty()) return cluster;
  return fail(ErrorCode::invalid, fmt::format("{}: no VC in the file", name));
}

Result<std::optional<ClusterSpec>> find_vc_file(const std::string& trace_path) {
  const std::filesystem::path path(trace_path);
  const std::string stem = path.filename().string();
  const std::string prefix = stem.substr(0, stem.find('_'));
  for (const std::string& name : {prefix + "_vc_config.csv", std::string("vc_config.csv")}) {
    const std::filesystem::path file = path.parent_path() / name;
    std::error_code unreadable;
    if (!std::filesystem::exists(file, unreadable)) continue;
    const auto text = read_file(file.string());
    if (!text) return tl::unexpected(text.error());
    auto cluster = parse_vc_file(*text, file.string());
    if (!cluster) return tl::unexpected(cluster.error());
    return std::move(*cluster);
  }
  return std::nullopt;
}

Result<Trace> with_vc_file(Result<Trace> trace, const std::string& trace_path) {
  if (!trace) return trace;
  auto cluster = find_vc_file(trace_path);
  if (!cluster) return tl::unexpected(cluster.error());
  trace->cluster = std::move(*cluster);
  return trace;
}

}  // namespace schedmate::trace
