// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "whatif/node_use.hpp"

namespace schedmate {
namespace {

/// By partition and GPU type.
using VcNames = std::map<std::pair<std::string, std::string>, std::uint32_t, std::less<>>;

VcNames names_of(const ClusterSpec& spec) {
  // "a+b:v100": partitions a and b on V100s.
  VcNames vcs;
  for (std::uint32_t vc = 0; vc < spec.partitions.size(); ++vc) {
    const std::string_view name = spec.partitions[vc].name;
    const std::size_t colon = std::min(name.find(':'), name.size());
    const std::string_view types = name.substr(std::min(colon + 1, name.size()));
    for (const std::string_view partition : split(name.substr(0, colon), '+')) {
      for (const std::string_view type : split(types, '+'))
        vcs.emplace(std::pair(std::string(partition), std::string(type)), vc);
    }
  }
  return vcs;
}

}  // namespace

Result<SeenCluster> map_cluster(const AccountingDump& dump, ClusterSpec spec) {
  SeenCluster seen = start_cluster(dump);
  seen.spec = std::move(spec);
  seen.unit.assign(seen.spec.partitions.size(), 1);
  const VcNames vcs = names_of(seen.spec);
  std::set<std::string> unknown;
  for (const AccountedJob& job : dump.jobs) {
    std::uint32_t vc = no_index;
    if (amount_of(job, seen.resource) > 0) {
      auto found = vcs.find(std::pair(job.partition, job.gpu_type));
      if (found == vcs.end()) found = vcs.find(std::pair(job.partition, std::string()));
      if (found != vcs.end()) vc = found->second;
      if (found == vcs.end()) unknown.insert(job.partition);
    }
    seen.vc_of_job.push_back(vc);
  }
  if (!unknown.empty()) {
    seen.notes.push_back(
        fmt::format("the cluster file has no virtual cluster for the partitions "
                    "{}; their jobs are left out",
                    fmt::join(unknown, ", ")));
  }
  note_runaways(dump, seen);
  return seen;
}

}  // namespace schedmate
