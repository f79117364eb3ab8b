// SPDX-License-Identifier: Apache-2.0
#include "study/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/input.hpp"
#include "base/text.hpp"
#include "base/toml_value.hpp"
#include "study/policy_spec.hpp"
#include "study/standard_arms.hpp"

namespace schedmate::study {
namespace {

using TomlKind = TomlValue::Kind;
constexpr std::uint64_t largest_experiment = 1U << 20U;
constexpr std::int64_t most_perturbations = 1000;

/// Reads tables of one file; the first thing that is wrong is kept.
class ExperimentReader {
 public:
  explicit ExperimentReader(std::string path) : path_(std::move(path)) {}

  void refuse(const TomlPlace& place, std::string_view why) {
    if (!error_)
      error_ = Error{ErrorCode::invalid,
                     fmt::format("{}:{}:{}: {}", path_, place.line, place.column, why)};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  /// Every key must be one of these.
  void known(const TomlValue& table, std::span<const std::string_view> keys) {
    for (std::size_t i = 0; i < table.keys.size(); ++i)
      if (std::ranges::find(keys, table.keys[i]) == keys.end())
        refuse(table.key_places[i], unknown_name("key", table.keys[i], keys));
  }
  static const TomlValue* find(const TomlValue& table, std::string_view key) {
    const auto found = std::ranges::find(table.keys, key);
    return found == table.keys.end()
               ? nullptr
               : &table.items[static_cast<std::size_t>(found - table.keys.begin())];
  }
  bool text(const TomlValue& table, std::string_view key, std::string& out) {
    const TomlValue* value = find(table, key);
    if (value == nullptr) return false;
    if (value->kind != TomlKind::text || value->text.empty()) {
      refuse(value->place, fmt::format("{}: a text in quotes is needed", key));
      return false;
    }
    out = value->text;
    return true;
  }
  void need(const TomlValue& table, std::string_view key, std::string& out) {
    if (find(table, key) == nullptr) refuse(table.place, fmt::format("{} is missing", key));
    text(table, key, out);
  }
  void number(const TomlValue& table, std::string_view key, double& out, double least) {
    const TomlValue* value = find(table, key);
    if (value == nullptr) return;
    const bool is_number = value->kind == TomlKind::whole || value->kind == TomlKind::real;
    if (!is_number || !(value->number >= least && value->number <= 1e9))
      return refuse(value->place, fmt::format("{}: a number from {} on is needed", key, least));
    out = value->number;
  }
  void whole(const TomlValue& table, std::string_view key, std::int64_t& out, double least) {
    const TomlValue* value = find(table, key);
    if (value != nullptr && value->kind != TomlKind::whole)
      return refuse(value->place, fmt::format("{}: a whole number is needed", key));
    auto number_out = static_cast<double>(out);
    number(table, key, number_out, least);
    out = static_cast<std::int64_t>(number_out);
  }
  bool flag(const TomlValue& table, std::string_view key) {
    const TomlValue* value = find(table, key);
    if (value == nullptr) return false;
    if (value->kind != TomlKind::flag)
      refuse(value->place, fmt::format("{}: true or false is needed", key));
    return value->flag;
  }
  /// One value as --set would give it.
  std::string plain(const TomlValue& value, std::string_view key) {
    switch (value.kind) {
      case TomlKind::text:
        return value.text;
      case TomlKind::flag:
        return value.flag ? "true" : "false";
      case TomlKind::whole:
      case TomlKind::real:
        return fmt::format("{}", value.number);
      default:
        refuse(value.place, fmt::format("{}: one value is needed", key));
        return "";
    }
  }
  /// The tables headed [[key]].
  std::span<const TomlValue> tables(const TomlValue& table, std::string_view key) {
    const TomlValue* list = find(table, key);
    if (list == nullptr) return {};
    const bool all =
        list->kind == TomlKind::list && std::ranges::all_of(list->items, [](const auto& item) {
          return item.kind == TomlKind::table;
        });
    if (all) return list->items;
    refuse(list->place, fmt::format("tables headed [[{}]] are needed", key));
    return {};
  }

 private:
  std::string path_;
  std::optional<Error> error_;
};

using SettingMap = std::map<std::string, std::string>;

/// Tables within are joined to keys by a dot, as in a settings file.
void read_settings(ExperimentReader& reader, const TomlValue& table, const std::string& prefix,
                   SettingMap& out) {
  if (table.kind != TomlKind::table)
    return reader.refuse(table.place, "a table of settings is needed");
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const std::string key = prefix + table.keys[i];
    if (table.items[i].kind == TomlKind::table) {
      read_settings(reader, table.items[i], key + ".", out);
      continue;
    }
    const std::string value = reader.plain(table.items[i], key);
    Settings scratch;
    if (const auto ok = scratch.set(key, value, ""); !ok)
      reader.refuse(table.key_places[i], ok.error().message);
    out[key] = value;
  }
}

void read_traces(ExperimentReader& reader, const TomlValue& root, ExperimentFile& out) {
  constexpr auto keys = std::to_array<std::string_view>(
      {"name", "trace", "cluster", "like", "jobs", "gpus", "days", "seed"});
  for (const TomlValue& table : reader.tables(root, "trace")) {
    reader.known(table, keys);
    ExperimentTrace trace;
    reader.need(table, "name", trace.name);
    reader.text(table, "trace", trace.spec);
    reader.text(table, "cluster", trace.cluster);
    reader.text(table, "like", trace.like);
    reader.whole(table, "jobs", trace.jobs, 1);
    reader.whole(table, "gpus", trace.gpus, 1);
    reader.whole(table, "seed", trace.seed, 0);
    constexpr double shortest_days = 0.01;
    reader.number(table, "days", trace.days, shortest_days);
    if (!trace.like.empty() && !trace.spec.empty())
      reader.refuse(table.place, "trace and like: give one");
    const bool bundled = trace.name == "venus" || trace.name == "philly";
    if (trace.like.empty() && trace.spec.empty() && !bundled)
      reader.refuse(table.place, fmt::format("{}: bundled are venus and philly; else give trace = "
                                             "\"FORMAT:PATH\" or like = \"CLUSTER\"",
                                             trace.name));
    if (std::ranges::find(out.traces, trace.name, &ExperimentTrace::name) != out.traces.end())
      reader.refuse(table.place, fmt::format("a trace {} came before", trace.name));
    out.traces.push_back(std::move(trace));
  }
  if (out.traces.empty()) reader.refuse(root.place, "a table [[trace]] is needed");
}

void check_policy_text(ExperimentReader& reader, const TomlPlace& place, const ExperimentArm& arm,
                       const ExperimentFile& file) {
  if (file.estimates) return;
  const auto spec = parse_policy(policy_at(arm, file.points.front()) + "@" + arm.label);
  if (!spec) reader.refuse(place, spec.error().message);
}

void read_arms(ExperimentReader& reader, const TomlValue& root, ExperimentFile& out) {
  constexpr auto keys =
      std::to_array<std::string_view>({"label", "policy", "host", "standard", "settings"});
  for (const TomlValue& table : reader.tables(root, "arm")) {
    reader.known(table, keys);
    ExperimentArm arm;
    reader.need(table, "policy", arm.policy);
    arm.label = arm.policy.substr(0, arm.policy.find(':'));
    reader.text(table, "label", arm.label);
    reader.text(table, "host", arm.host);
    if (const TomlValue* set = ExperimentReader::find(table, "settings"))
      read_settings(reader, *set, "", arm.settings);
    const bool has_host =
        arm.host.empty() ||
        std::ranges::find(out.arms, arm.host, &ExperimentArm::label) != out.arms.end();
    if (!has_host) reader.refuse(table.place, fmt::format("host {}: no such arm before", arm.host));
    const bool standard = reader.flag(table, "standard");
    for (ExperimentArm& each : standard ? standard_arms(arm) : std::vector{arm}) {
      check_policy_text(reader, table.place, each, out);
      if (std::ranges::find(out.arms, each.label, &ExperimentArm::label) != out.arms.end())
        reader.refuse(table.place, fmt::format("an arm {} came before", each.label));
      out.arms.push_back(std::move(each));
    }
  }
  if (out.arms.size() < 2) reader.refuse(root.place, "a table [[arm]] is needed");
}

void read_sweep(ExperimentReader& reader, const TomlValue& root, ExperimentFile& out) {
  out.points = {""};
  const TomlValue* table = ExperimentReader::find(root, "sweep");
  if (table == nullptr) return;
  if (table->kind != TomlKind::table)
    return reader.refuse(table->place, "[sweep]: a table is needed");
  constexpr auto keys = std::to_array<std::string_view>({"setting", "values"});
  reader.known(*table, keys);
  reader.text(*table, "setting", out.sweep);
  const TomlValue* values = ExperimentReader::find(*table, "values");
  if (values == nullptr || values->kind != TomlKind::list || values->items.empty())
    return reader.refuse(table->place, "values: a list is needed");
  out.points.clear();
  for (const TomlValue& item : values->items) {
    out.points.push_back(reader.plain(item, "values"));
    Settings scratch;
    if (out.sweep.empty()) continue;
    if (const auto ok = scratch.set(out.sweep, out.points.back(), ""); !ok)
      reader.refuse(item.place, ok.error().message);
  }
}

void read_head(ExperimentReader& reader, const TomlValue& root, ExperimentFile& out) {
  constexpr auto keys = std::to_array<std::string_view>({"title", "claim", "published", "estimates",
                                                         "perturbations", "warm_up_days", "host",
                                                         "settings", "trace", "arm", "sweep"});
  reader.known(root, keys);
  reader.need(root, "title", out.title);
  reader.text(root, "claim", out.claim);
  if (const TomlValue* list = ExperimentReader::find(root, "published")) {
    if (list->kind != TomlKind::list)
      return reader.refuse(list->place, "published: a list is needed");
    for (const TomlValue& item : list->items)
      out.published.push_back(reader.plain(item, "published"));
  }
  out.estimates = reader.flag(root, "estimates");
  reader.whole(root, "perturbations", out.perturbations, 2);
  if (out.perturbations > most_perturbations)
    reader.refuse(root.place, fmt::format("perturbations: at most {}", most_perturbations));
  reader.number(root, "warm_up_days", out.warm_up_days, 0);
  if (const TomlValue* set = ExperimentReader::find(root, "settings"))
    read_settings(reader, *set, "", out.settings);
}

}  // namespace

Result<ExperimentFile> read_experiment(const std::string& path) {
  auto text = read_file(path, largest_experiment);
  if (!text) return tl::unexpected(text.error());
  const auto root = parse_toml(*text, path);
  if (!root) return tl::unexpected(root.error());
  ExperimentFile file;
  file.path = path;
  file.name = std::filesystem::path(path).stem().string();
  file.text = std::move(*text);
  ExperimentReader reader(path);
  read_head(reader, *root, file);
  read_sweep(reader, *root, file);
  read_traces(reader, *root, file);
  ExperimentArm host;
  reader.need(*root, "host", host.policy);
  host.label = host.policy.substr(0, host.policy.find(':'));
  check_policy_text(reader, root->place, host, file);
  file.arms.push_back(std::move(host));
  read_arms(reader, *root, file);
  if (reader.error()) return tl::unexpected(*reader.error());
  return file;
}

Result<Settings> settings_of(const Settings& base, const ExperimentFile& experiment,
                             const ExperimentArm& arm, const std::string& point) {
  Settings settings = base;
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
