// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "whatif/node_use.hpp"

namespace schedmate::whatif {
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

/// The N of "N CPUs", which a cluster file may say in gpu_type.
std::optional<std::int64_t> cpus_of_unit(std::string_view gpu_type) {
  constexpr std::int64_t most_cpus = 65'536;  // of a node
  const std::size_t space = gpu_type.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = gpu_type.substr(space + 1);
  const auto number = parse_number<std::int64_t>(gpu_type.substr(0, space));
  if ((word != "CPUs" && word != "CPU") || !number || *number < 1 || *number > most_cpus)
    return std::nullopt;
  return number;
}

/// The most CPUs in use on a node of each VC.
std::vector<std::int64_t> peaks_of(const AccountingDump& dump, const InferredCluster& seen) {
  const NodeUse use = node_use(dump, seen.resource);
  std::vector<std::int64_t> peaks(seen.spec.partitions.size());
  for (std::size_t i = 0; i < dump.jobs.size(); ++i) {
    if (seen.vc_of_job[i] == no_index) continue;
    std::int64_t& peak = peaks[seen.vc_of_job[i]];
    for (const std::uint32_t node : dump.jobs[i].nodes) peak = std::max(peak, use.most(node));
  }
  return peaks;
}

/// How many CPUs count as one: as the file says in gpu_type, else as many as bring what was in use
/// on a node to the file's gpus_per_node.
void set_units(const AccountingDump& dump, InferredCluster& seen) {
  seen.unit.assign(seen.spec.partitions.size(), 1);
  if (seen.resource == Resource::gpus) return;
  const auto peaks = peaks_of(dump, seen);
  for (std::size_t vc = 0; vc < peaks.size(); ++vc) {
    PartitionSpec& spec = seen.spec.partitions[vc];
    const auto declared = cpus_of_unit(spec.gpu_type);
    if (declared) spec.gpu_type.clear();
    const std::int64_t needed = (peaks[vc] + spec.gpus_per_node - 1) / spec.gpus_per_node;
    seen.unit[vc] = declared.value_or(std::max<std::int64_t>(1, needed));
    if (seen.unit[vc] == 1) continue;
    seen.notes.push_back(
        declared
            ? fmt::format("{}: {} CPUs count as one", spec.name, *declared)
            : fmt::format("{}: {} CPUs count as one, as {} were in use on a node and the cluster "
                          "file gives it {} (gpu_type = \"N CPUs\" there sets another number)",
                          spec.name, seen.unit[vc], peaks[vc], spec.gpus_per_node));
  }
}

}  // namespace

Result<InferredCluster> map_cluster(const AccountingDump& dump, ClusterSpec spec) {
  InferredCluster seen = start_cluster(dump);
  seen.spec = std::move(spec);
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
        fmt::format("the cluster file has no virtual cluster for the partitions {}; "
                    "their jobs are left out",
                    fmt::join(unknown, ", ")));
  }
  set_units(dump, seen);
  note_runaways(dump, seen);
  return seen;
}

}  // namespace schedmate::whatif
