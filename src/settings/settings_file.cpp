// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/input.hpp"
#include "base/table_reader.hpp"
#include "base/text.hpp"

namespace schedmate::settings {
namespace {

constexpr std::uint64_t largest_settings = 1U << 20U;

/// The usual files, from the weakest up: those of the site (XDG_CONFIG_DIRS, whose first is the
/// strongest), then the user's.
std::vector<std::string> usual_files(const Environment& environment) {
  std::vector<std::string> files;
  if (environment.variable) {
    std::string folders = environment.variable("XDG_CONFIG_DIRS");
    if (folders.empty()) folders = "/etc/xdg";
    for (const std::string_view folder : split(folders, ':'))
      if (folder.starts_with('/')) files.insert(files.begin(), std::string(folder));
  }
  if (!environment.config_home.empty()) files.push_back(environment.config_home);
  for (std::string& file : files) file += "/schedmate/config.toml";
  return files;
}

Result<void> read_chosen(const SettingsSources& sources, const Environment& environment,
                         Settings& settings) {
  if (!sources.file.empty()) return settings.read_file(sources.file);
  for (const std::string& usual : usual_files(environment)) {
    std::error_code error;
    if (!std::filesystem::exists(usual, error)) continue;
    if (auto done = settings.read_file(usual); !done) return done;
  }
  return {};
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

Result<std::vector<SettingsSources::Given>> read_pairs(const std::vector<std::string>& pairs,
                                                       const std::string& flag) {
  std::vector<SettingsSources::Given> given;
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return fail(ErrorCode::unsupported,
                  fmt::format("{} {}: must have the form KEY=VALUE", flag, pair));
    given.push_back({pair.substr(0, equals), pair.substr(equals + 1), flag});
  }
  return given;
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
