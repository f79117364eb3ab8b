// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What generated traces are written with.

#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate {

/// docs/formats/cluster.md.
[[nodiscard]] std::string cluster_toml(const ClusterSpec& cluster);

/// A CSV field, in quotes where it needs them.
[[nodiscard]] std::string quoted_csv(std::string_view text);

/// The states of the Helios files.
[[nodiscard]] std::string helios_state(EndState state);

/// With its parents. Errors: unavailable.
[[nodiscard]] Result<void> make_folder(const std::string& path);

}  // namespace schedmate
