// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A ZIP archive as Ray wants its packages: files at the top level, not compressed.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedmate::ray_live {

/// Of (name, bytes); the same bytes for the same files. At most 65535 files, 4 GiB in all.
[[nodiscard]] std::string zip_of(
    const std::vector<std::pair<std::string, std::string_view>>& files);

}  // namespace schedmate::ray_live
