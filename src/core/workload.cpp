// SPDX-License-Identifier: Apache-2.0
#include "core/workload.hpp"

#include <utility>

#include "base/random.hpp"

namespace schedmate {

void assign_profiles(Trace& trace, std::shared_ptr<const PackingTables> tables,
                     std::uint64_t seed) {
  if (trace.packing != nullptr || tables->profiles.empty()) return;
  const std::uint64_t count = tables->profiles.size();
  for (Job& job : trace.jobs) {
    std::uint64_t key = mix(seed);
    for (const std::uint64_t part :
         {std::uint64_t{job.user}, std::uint64_t{job.vc}, static_cast<std::uint64_t>(job.gpus)}) {
      key = mix(key ^ part);
    }
    job.profile = static_cast<std::uint32_t>(key % count);
  }
  trace.packing = std::move(tables);
}

}  // namespace schedmate
