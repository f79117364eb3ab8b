// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <schedmate/scheduler.hpp>
#include <string_view>

namespace schedmate::bench {

/// Of "NAME" or "NAME:key=value,...".
inline Result<Scheduler> policy_of(std::string_view text, const ClusterSpec& cluster) {
  const auto colon = std::min(text.find(':'), text.size());
  PolicyOptions options;
  if (colon < text.size()) options.add_defaults(text.substr(colon + 1));
  return make_scheduler(text.substr(0, colon), {cluster}, std::move(options));
}

}  // namespace schedmate::bench
