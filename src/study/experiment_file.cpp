// SPDX-License-Identifier: Apache-2.0
#include "study/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/input.hpp"
#include "base/table_reader.hpp"
#include "study/policy_spec.hpp"
#include "study/standard_arms.hpp"

namespace schedmate::study {
namespace {

constexpr std::uint64_t largest_experiment = 1U << 20U;
constexpr Bounds from_one{1, 1e9};
constexpr Bounds from_zero{0, 1e9};

using SettingMap = std::map<std::string, std::string>;

/// Settings as a settings file has them; a wrong one is refused here, not in the middle of a run.
void read_settings(TableReader& table, SettingMap& out) {
  table.plain_entries([&](const std::string& key, const std::string& value) {
    out[key] = value;
    return settings::Settings().set(key, value, "");
  });
}

void read_trace_row(TableReader& table, ExperimentFile& out) {
  ExperimentTrace trace;
  table.text("name", trace.name);
  table.maybe_text("trace", trace.spec);
  table.maybe_text("cluster", trace.cluster);
  table.maybe_text("like", trace.like);
  table.maybe_whole("jobs", trace.jobs, from_one);
  table.maybe_whole("gpus", trace.gpus, from_one);
  constexpr double shortest_days = 0.01;
  table.maybe_number("days", trace.days, {shortest_days, from_one.high});
  table.maybe_whole("seed", trace.seed, from_zero);
  if (!trace.like.empty() && !trace.spec.empty())
    table.refuse("trace and like exclude each other: give only one");
  const bool bundled = trace.name == "venus" || trace.name == "philly";
  if (trace.like.empty() && trace.spec.empty() && !bundled)
    table.refuse(
        fmt::format("{}: only venus and philly are bundled; otherwise give trace = \"FORMAT:PATH\" "
                    "or like = \"CLUSTER\"",
                    trace.name));
  if (std::ranges::find(out.traces, trace.name, &ExperimentTrace::name) != out.traces.end())
    table.refuse(fmt::format("the trace {} is listed twice", trace.name));
  out.traces.push_back(std::move(trace));
}

void check_policy_text(TableReader& table, const ExperimentArm& arm, const ExperimentFile& file) {
  if (file.estimates || file.points.empty()) return;
  const auto spec = parse_policy(policy_at(arm, file.points.front()) + "@" + arm.label);
  if (!spec) table.refuse(spec.error().message);
}

void read_arm(TableReader& table, ExperimentFile& out) {
  ExperimentArm arm;
  table.maybe_text("label", arm.label);
  table.text("policy", arm.policy);
  if (arm.label.empty()) arm.label = arm.policy.substr(0, arm.policy.find(':'));
  table.maybe_text("host", arm.host);
  bool standard = false;
  table.maybe_flag("standard", standard);
  table.maybe_table("settings",
                    [&](TableReader& settings) { read_settings(settings, arm.settings); });
  const auto came_before = [&](const std::string& label) {
    return std::ranges::find(out.arms, label, &ExperimentArm::label) != out.arms.end();
  };
  if (!arm.host.empty() && !came_before(arm.host))
    table.refuse(fmt::format("host {}: no such arm before this one", arm.host));
  for (ExperimentArm& each : standard ? standard_arms(arm) : std::vector{arm}) {
    check_policy_text(table, each, out);
    if (came_before(each.label))
      table.refuse(fmt::format("the arm {} is listed twice", each.label));
    out.arms.push_back(std::move(each));
  }
}

void read_sweep(TableReader& table, ExperimentFile& out) {
  table.maybe_text("setting", out.sweep);
  out.points.clear();
  table.maybe_plain("values", out.points);
  if (out.points.empty()) table.refuse("values: must be a list");
  for (const std::string& point : out.points) {
    if (out.sweep.empty()) return;
    settings::Settings scratch;
    if (const auto ok = scratch.set(out.sweep, point, ""); !ok)
      table.refuse("values", ok.error().message);
  }
}

void read_all(TableReader& root, ExperimentFile& out) {
  root.text("title", out.title);
  root.maybe_text("claim", out.claim);
  root.maybe_plain("published", out.published);
  root.maybe_flag("estimates", out.estimates);
  root.maybe_whole("perturbations", out.perturbations, {2, 1000});
  root.maybe_number("warm_up_days", out.warm_up_days, from_zero);
  ExperimentArm host;
  root.text("host", host.policy);
  host.label = host.policy.substr(0, host.policy.find(':'));
  root.maybe_table("settings",
                   [&](TableReader& settings) { read_settings(settings, out.settings); });
  out.points = {""};
  root.maybe_table("sweep", [&](TableReader& sweep) { read_sweep(sweep, out); });
  root.tables("trace", [&](TableReader& trace) { read_trace_row(trace, out); });
  check_policy_text(root, host, out);
  out.arms.push_back(std::move(host));
  root.tables("arm", [&](TableReader& arm) { read_arm(arm, out); });
}

}  // namespace

Result<ExperimentFile> read_experiment(const std::string& path) {
  auto text = read_file(path, largest_experiment);
  if (!text) return tl::unexpected(text.error());
  ExperimentFile file;
  const auto done =
      TableReader::read(*text, path, [&](TableReader& root) { read_all(root, file); });
  if (!done) return tl::unexpected(done.error());
  file.path = path;
  file.name = std::filesystem::path(path).stem().string();
  file.text = std::move(*text);
  return file;
}

Result<settings::Settings> settings_of(const settings::Settings& base,
                                       const ExperimentFile& experiment, const ExperimentArm& arm,
                                       const std::string& point) {
  settings::Settings settings = base;
  auto ok = settings.set("threads", "1", experiment.path);
  for (const auto* map : {&experiment.settings, &arm.settings})
    for (const auto& [key, value] : *map)
      if (ok) ok = settings.set(key, value, experiment.path);
  if (ok && !experiment.sweep.empty()) ok = settings.set(experiment.sweep, point, experiment.path);
  if (!ok) return tl::unexpected(ok.error());
  return settings;
}

std::string policy_at(const ExperimentArm& arm, const std::string& point) {
  constexpr std::string_view hole = "{at}";
  std::string text = arm.policy;
  if (const auto where = text.find(hole); where != std::string::npos)
    text.replace(where, hole.size(), point);
  return text;
}

}  // namespace schedmate::study
