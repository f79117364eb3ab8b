// SPDX-License-Identifier: Apache-2.0

/// What NVML says of the GPUs of the job's nodes. It reports the present state: a GPU that was
/// reset since the job ended looks healthy.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "log/witness/witness.hpp"

namespace schedmate::witness {
namespace {

struct Fault {
  std::string rule, reason;
  Component component = Component::gpu;
  Recommendation recommendation = Recommendation::test_first;
  double confidence = 0.9;
};

std::string_view advice_for(const Fault& fault) {
  if (fault.component == Component::nvlink)
    return "reset all GPUs of the node, restart the fabric manager, run all_reduce_perf over all "
           "of them";
  if (fault.recommendation == Recommendation::restart_elsewhere)
    return "reboot the node; replace the GPU if it comes back";
  return "take the GPU out of service, reset it, run dcgmi diag -r 3";
}

/// The driver's own word on what has to be done.
void add_action(const GpuState& gpu, std::vector<Fault>& faults) {
  constexpr double certain = 0.95;
  switch (gpu.recovery_action.value_or(0)) {
    case 0:
      return;
    case 1:
    case 4:
      faults.push_back({"nvml recovery action", "the driver asks for the GPU to be reset",
                        Component::gpu, Recommendation::test_first, certain});
      return;
    case 3:
      faults.push_back({"nvml recovery action",
                        "the driver asks for the NVLink peers to be drained", Component::nvlink,
                        Recommendation::test_first, certain});
      return;
    default:
      faults.push_back({"nvml recovery action", "the driver asks for a reboot of the node",
                        Component::gpu, Recommendation::restart_elsewhere, certain});
  }
}

std::vector<Fault> faults_of(const GpuState& gpu) {
  std::vector<Fault> faults;
  if (gpu.lost)
    faults.push_back({"nvml lost", "the GPU does not answer its driver", Component::gpu,
                      Recommendation::restart_elsewhere, 0.97});
  add_action(gpu, faults);
  if (gpu.ecc_uncorrected.value_or(0) > 0)
    faults.push_back(
        {"nvml ecc", fmt::format("{} uncorrectable memory errors", *gpu.ecc_uncorrected)});
  if (gpu.remapped && gpu.remapped->failure)
    faults.push_back({"nvml row remap", "a memory row could not be remapped"});
  if (gpu.remapped && gpu.remapped->pending)
    faults.push_back({"nvml row remap", "memory rows wait for a reset to be remapped"});
  if (gpu.retirement_pending.value_or(false))
    faults.push_back({"nvml retired pages", "memory pages wait for a reset to be retired"});
  const bool recovered = std::ranges::any_of(
      gpu.nvlinks, [](const NvlinkState& link) { return link.recovery.value_or(0) > 0; });
  if (recovered)
    faults.push_back({"nvml nvlink", "a link between GPUs had to be brought up again",
                      Component::nvlink, Recommendation::test_first, 0.7});
  return faults;
}

WitnessFinding finding_of(const GpuState& gpu, const Fault& fault, const std::string& node) {
  WitnessFinding finding;
  finding.means = {.rule = fault.rule,
                   .verdict = FailureClass::infrastructure,
                   .component = fault.component,
                   .reason = fmt::format("GPU {}: {}", gpu.index, fault.reason),
                   .advice = std::string(advice_for(fault)),
                   .recommendation = fault.recommendation,
                   .confidence = fault.confidence};
  finding.node = node;
  finding.text = fmt::format("{} {} {}", gpu.pci, gpu.name, gpu.error);
  finding.decides = true;
  return finding;
}

/// Whether library and GPU report all in which a fault would show.
bool is_complete(const GpuState& gpu) {
  return gpu.error.empty() && (gpu.recovery_action || (gpu.ecc_uncorrected && gpu.remapped));
}

}  // namespace

Result<WitnessReport> consult_nvml(const WitnessCase& what) {
  WitnessReport made;
  made.says = "neither --nvml nor --nvml-from was given";
  std::set<std::string> nodes_read;
  std::string troubles;
  bool all = true;
  for (const GpuReading& reading : what.gpus) {
    const bool bound = what.job && !what.job->nodes.empty();
    const std::string node = bound ? node_of(*what.job, reading.node) : "";
    if (bound && node.empty()) {
      troubles += fmt::format("; {} is not in the allocation", reading.node);
      continue;
    }
    if (!reading.error.empty()) troubles += "; " + reading.error;
    if (reading.gpus.empty()) continue;
    made.asked = true;
    nodes_read.insert(node);
    for (const GpuState& gpu : reading.gpus) {
      all = all && is_complete(gpu);
      for (const Fault& fault : faults_of(gpu))
        made.findings.push_back(finding_of(gpu, fault, node));
    }
  }
  sort_findings(made.findings);
  const bool everywhere = !what.job || what.job->nodes.empty() ||
                          std::ranges::all_of(what.job->nodes, [&](const std::string& node) {
                            return nodes_read.contains(node);
                          });
  made.complete = made.asked && all && everywhere && troubles.empty();
  if (made.asked)
    made.says = made.findings.empty() ? "no fault is shown" : in_words(made.findings);
  else if (!what.gpus.empty())
    made.says = "no GPU of the job could be queried";
  made.says += troubles;
  return made;
}

}  // namespace schedmate::witness
