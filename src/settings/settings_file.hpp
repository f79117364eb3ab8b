// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The settings in effect, from where they are given. A program that runs for long calls it again
/// on request, and goes on with the old ones if that fails.

#include <string>
#include <vector>

#include "settings/environment.hpp"
#include "settings/settings.hpp"

namespace schedmate::settings {

struct SettingsSources {
  std::string
      file;  ///< TOML; "" = schedmate/config.toml in XDG_CONFIG_DIRS and config_home, what is there
  struct Given {
    std::string key, value;
    std::string origin;  ///< a flag's name
  };
  std::vector<Given> given;  ///< above the file, later ones above earlier ones
};

/// Of "KEY=VALUE" each, as a flag takes them. Errors: unsupported for another form.
[[nodiscard]] Result<std::vector<SettingsSources::Given>> read_pairs(
    const std::vector<std::string>& pairs, const std::string& flag);

/// Errors: as Settings::set and Settings::read_file.
[[nodiscard]] Result<Settings> load_settings(const SettingsSources& sources,
                                             const Environment& environment);

}  // namespace schedmate::settings
