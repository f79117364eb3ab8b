// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.hpp"

#include <filesystem>
#include <system_error>

#include "base/input.hpp"
#include "base/table_reader.hpp"

namespace schedmate::settings {
namespace {

constexpr std::uint64_t largest_settings = 1U << 20U;

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
  return TableReader::read(*text, path, [&](TableReader& file) {
    file.plain_entries(
        [&](const std::string& key, const std::string& value) { return set(key, value, path); });
  });
}

Result<Settings> load_settings(const SettingsSources& sources, const Environment& environment) {
  Settings settings;
  auto done = read_chosen(sources, environment, settings);
  for (const SettingsSources::Given& each : sources.given)
    if (done) done = settings.set(each.key, each.value, each.origin);
  if (!done) return tl::unexpected(done.error());
  return settings;
}

}  // namespace schedmate::settings
