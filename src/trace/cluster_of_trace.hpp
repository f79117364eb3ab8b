// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/trace.hpp>
#include <string>
#include <string_view>

namespace schedmate::trace {

/// The cluster of `file`, or ("") that which the trace describes. Errors: unsupported, "`name` does
/// not describe its cluster: `mend`"; as of read_cluster().
[[nodiscard]] Result<ClusterSpec> cluster_of_trace(const Trace& trace, const std::string& file,
                                                   std::string_view name, std::string_view mend);

}  // namespace schedmate::trace
