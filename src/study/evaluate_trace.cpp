// SPDX-License-Identifier: Apache-2.0
#include "study/evaluate_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <schedmate/trace.hpp>
#include <string_view>

#include "base/input.hpp"
#include "base/sha256.hpp"
#include "settings/data_files.hpp"
#include "study/like_trace.hpp"
#include "trace/cluster_of_trace.hpp"

namespace schedmate::study {
namespace {

struct BundledTrace {
  std::string_view name, format, file, vcs;
};
constexpr BundledTrace bundled_traces[] = {
    {"venus", "helios", "venus/venus_sept2020_days0-12.csv.gz", "venus/venus_vc_config.csv"},
    {"philly", "philly", "philly/philly_oct2017.csv.gz", "philly/philly_vc_config.csv"}};

const BundledTrace& bundled_of(const std::string& name) {
  return name == bundled_traces[0].name ? bundled_traces[0] : bundled_traces[1];
}

Result<std::string> spec_of(const ExperimentTrace& which) {
  if (!which.spec.empty()) return which.spec;
  const BundledTrace& row = bundled_of(which.name);
  return settings::data_file(row.file).map(
      [&](const std::string& path) { return fmt::format("{}:{}", row.format, path); });
}

Result<LoadedTrace> draw(const ExperimentTrace& which) {
  const auto published = read_published(which.like);
  if (!published) return tl::unexpected(published.error());
  synth::SynthesisOptions options;
  options.jobs = which.jobs;
  if (which.jobs == 0) options.days = which.days;
  options.gpus = which.gpus;
  options.seed = static_cast<std::uint64_t>(which.seed);
  const auto drawn = synth::synthesize(*published, options);
  if (!drawn) return tl::unexpected(drawn.error());
  auto trace = trace_of(*published, *drawn);
  if (!trace) return tl::unexpected(trace.error());
  return LoadedTrace{std::move(*trace), cluster_of(*published, *drawn)};
}

/// The data files of a trace.
Result<std::vector<std::string>> files_of(const ExperimentTrace& which) {
  std::vector<std::string> names;
  if (!which.like.empty()) {
    names = {"synth/behaviour.toml", "synth/failures.toml"};
    if (!which.like.ends_with(".toml")) names.push_back(fmt::format("synth/{}.toml", which.like));
  } else if (which.spec.empty()) {
    names = {std::string(bundled_of(which.name).file), std::string(bundled_of(which.name).vcs)};
  }
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    auto path = settings::data_file(name);
    if (!path) return tl::unexpected(path.error());
    paths.push_back(std::move(*path));
  }
  if (which.like.ends_with(".toml")) paths.push_back(which.like);
  if (!which.cluster.empty()) paths.push_back(which.cluster);
  const std::string path = which.spec.substr(which.spec.find(':') + 1);
  if (!which.spec.empty() && !std::filesystem::is_directory(path)) paths.push_back(path);
  return paths;
}

// What follows is seen by other files.

}  // namespace

bool decides_rows(std::string_view key) {
  constexpr auto plain = std::to_array<std::string_view>(
      {"mode", "placement", "overhead_small_s", "overhead_large_s", "seed", "interference_pct"});
  return std::ranges::find(plain, key) != plain.end() || key.starts_with("workload") ||
         key.starts_with("cost.") || key.starts_with("defects.");
}

Result<LoadedTrace> load_trace(const ExperimentTrace& which) {
  if (!which.like.empty()) return draw(which);
  const auto spec = spec_of(which);
  if (!spec) return tl::unexpected(spec.error());
  auto trace = read_trace(*spec, {});
  if (!trace) return tl::unexpected(trace.error());
  auto cluster =
      trace::cluster_of_trace(*trace, which.cluster, *spec, "set cluster = \"FILE\" for the trace");
  if (!cluster) return tl::unexpected(cluster.error());
  return LoadedTrace{std::move(*trace), std::move(*cluster)};
}

std::string unusual(const settings::Settings& settings, bool (*read)(std::string_view)) {
  const settings::Settings usual;
  std::string text;
  for (const settings::SettingRow& row : settings::setting_rows())
    if (read(row.key) && settings.text(row.key) != usual.text(row.key))
      text += fmt::format("{}={}\n", row.key, settings.text(row.key));
  return text;
}

Result<std::string> fingerprint_of(const settings::Settings& settings,
                                   const ExperimentFile& experiment, const std::string& command) {
  std::string all = fmt::format("{}\n{}\n", command, experiment.text);
  all += unusual(settings, decides_rows);
  std::vector<std::string> paths;
  for (const char* name : {"recipes/light.toml", "recipes/heavy.toml", "interference.toml",
                           "extraction_errors.toml"}) {
    auto path = settings::data_file(name);
    if (!path) return tl::unexpected(path.error());
    paths.push_back(std::move(*path));
  }
  for (const ExperimentTrace& trace : experiment.traces) {
    auto more = files_of(trace);
    if (!more) return tl::unexpected(more.error());
    paths.insert(paths.end(), more->begin(), more->end());
  }
  for (const std::string& path : paths) {
    const auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    all += sha256(*text) + "\n";
  }
  return sha256(all);
}

}  // namespace schedmate::study
