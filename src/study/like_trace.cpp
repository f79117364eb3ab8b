// SPDX-License-Identifier: Apache-2.0
#include "study/like_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <schedmate/trace.hpp>

#include "base/text.hpp"
#include "settings/data_files.hpp"
#include "study/like_rows.hpp"
#include "trace/readers.hpp"

namespace schedmate::study {
namespace {

constexpr std::array<std::string_view, 3> bundled_tables = {"acme-kalos", "acme-seren", "saturn"};

template <class Value>
Result<Value> read_table(const Result<std::string>& path,
                         Result<Value> (*parse)(std::string_view, const std::string&)) {
  if (!path) return tl::unexpected(path.error());
  const auto text = read_file(*path);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, *path);
}

Result<std::string> figures_file(const std::string& like) {
  if (like.ends_with(".toml")) return like;
  if (std::ranges::find(bundled_tables, like) == bundled_tables.end())
    return fail(ErrorCode::not_found,
                "--like: " + unknown_name("cluster", like, bundled_tables) + ", or a .toml file");
  return settings::data_file(fmt::format("synth/{}.toml", like));
}

}  // namespace

Result<synth::Published> read_published(const std::string& like) {
  auto cluster = read_table(figures_file(like), synth::parse_figures);
  if (!cluster) return tl::unexpected(cluster.error());
  auto behaviour = read_table(settings::data_file("synth/behaviour.toml"), synth::parse_behaviour);
  if (!behaviour) return tl::unexpected(behaviour.error());
  auto causes = read_table(settings::data_file("synth/failures.toml"), synth::parse_causes);
  if (!causes) return tl::unexpected(causes.error());
  return synth::Published{std::move(*cluster), std::move(*behaviour), std::move(*causes)};
}

ClusterSpec cluster_of(const synth::Published& published, const synth::Synthesis& drawn) {
  PartitionSpec vc;
  vc.name = published.cluster.vc;
  vc.nodes = drawn.nodes;
  vc.gpus_per_node = published.cluster.gpus_per_node;
  vc.gpu_memory_mib = published.cluster.gpu_memory_mib;
  return {{vc}};
}

Result<Trace> trace_of(const synth::Published& published, const synth::Synthesis& drawn) {
  std::string text = synth_header();
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) append_synth_row(published, drawn, i, text);
  auto trace = trace::parse_helios(text, published.cluster.name, {});
  if (trace) trace->cluster = cluster_of(published, drawn);
  return trace;
}

}  // namespace schedmate::study
