// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a trace is written, as the readers of this folder read it.

#include <schedmate/job.hpp>
#include <string>
#include <string_view>

namespace schedmate::trace {

/// docs/formats/cluster.md.
[[nodiscard]] std::string cluster_toml(const ClusterSpec& cluster);

/// A CSV field, in quotes where it needs them.
[[nodiscard]] std::string quoted_csv(std::string_view text);

/// The states of the Helios files.
[[nodiscard]] std::string helios_state(EndState state);

}  // namespace schedmate::trace
