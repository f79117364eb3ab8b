// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One reader for each format, each in a file of its own.

#include "config/value_names.hpp"

namespace schedmate::config {

struct ConfigText {
  std::string_view text;
  std::string_view file;  ///< for places and errors
};

[[nodiscard]] Result<Value> read_yaml(const ConfigText& config);
[[nodiscard]] Result<Value> read_json(const ConfigText& config);
[[nodiscard]] Result<Value> read_toml(const ConfigText& config);
[[nodiscard]] Result<Value> read_ini(const ConfigText& config);

/// "conf/a.yaml:12: WHY" as an error.
[[nodiscard]] tl::unexpected<Error> fail_at(std::string_view file, int line, std::string_view why);

}  // namespace schedmate::config
