// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "base/input.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t largest_settings = 1U << 20U;

std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return fmt::to_string(whole->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return std::nullopt;
}

class SettingsReader {
 public:
  SettingsReader(Settings& settings, const std::string& path) : settings_(settings), path_(path) {}

  Result<void> read(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      const auto done = node.is_table() ? read(*node.as_table(), key + ".") : take(key, node);
      if (!done) return done;
    }
    return {};
  }

 private:
  Result<void> take(const std::string& key, const toml::node& node) {
    const auto value = text_of(node);
    const auto done = value ? settings_.set(key, *value, path_)
                            : fail(ErrorCode::invalid, key + ": one value is needed");
    if (done) return {};
    const toml::source_position at = node.source().begin;
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:{}: {}", path_, at.line, at.column, done.error().message));
  }

  Settings& settings_;
  const std::string& path_;
};

Result<void> read_chosen(const SettingsSources& sources, const Environment& environment,
                         Settings& settings) {
  if (!sources.file.empty()) return settings.read_file(sources.file);
  if (environment.config_home.empty()) return {};
  const std::string usual = environment.config_home + "/schedmate/config.toml";
  std::error_code error;
  return std::filesystem::exists(usual, error) ? settings.read_file(usual) : Result<void>();
}

}  // namespace

Result<void> Settings::read_file(const std::string& path) {
  const auto text = schedmate::read_file(path, largest_settings);
  if (!text) return tl::unexpected(text.error());
  try {
    return SettingsReader(*this, path).read(toml::parse(*text, path), "");
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:{}: {}", path, at.line, at.column, error.description()));
  }
}

Result<Settings> load_settings(const SettingsSources& sources, const Environment& environment) {
  Settings settings;
  auto done = read_chosen(sources, environment, settings);
  for (const SettingsSources::Given& each : sources.given)
    if (done) done = settings.set(each.key, each.value, each.origin);
  if (!done) return tl::unexpected(done.error());
  return settings;
}

}  // namespace schedmate
