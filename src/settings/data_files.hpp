// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::settings {

/// Path of a bundled file such as "venus/venus_vc_config.csv". It is looked for in
/// PREFIX/share/schedmate when the program is PREFIX/bin/schedmate, and in data/ of the source tree
/// when it is build/NAME/schedmate. Errors: unavailable, naming the places.
[[nodiscard]] Result<std::string> data_file(std::string_view name);

}  // namespace schedmate::settings
