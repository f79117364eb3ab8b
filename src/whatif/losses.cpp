// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "whatif/compare.hpp"

namespace schedmate::whatif {
namespace {

constexpr double hour_s = 3600;

struct Cause {
  std::string_view name;  // empty: no failure
  Confidence confidence = Confidence::high;
};

/// What the state and the exit code show. A program that ends with an error may have met anything.
Cause cause_of(const AccountedJob& job) {
  if (job.state == "NODE_FAIL" || job.state == "BOOT_FAIL" || job.state == "LAUNCH_FAILED")
    return {"infrastructure"};
  if (job.state == "TIMEOUT" || job.state == "DEADLINE") return {"time limit"};
  if (job.state == "OUT_OF_MEMORY") return {"memory"};
  if (job.state != "FAILED") return {};
  const std::size_t colon = job.exit_code.find(':');
  if (colon == std::string::npos) return {"not known", Confidence::none};
  return {job.exit_code.substr(colon + 1) == "0" ? "program ended with an error"
                                                 : "program or its launch was killed",
          Confidence::low};
}

/// GPU hours, or CPU hours in their place: never hours of units of several CPUs.
double hours_of(const PastJob& job) {
  return static_cast<double>((job.end - job.start).count()) * static_cast<double>(job.amount) /
         hour_s;
}

}  // namespace

std::vector<Loss> find_losses(const AccountingDump& dump, const RecordedCluster& world) {
  std::map<std::pair<std::string, std::string>, Loss> found;
  double all_h = 0;
  for (std::size_t row = 0; row < world.of.size(); ++row) {
    const AccountedJob& job = dump.jobs[world.of[row]];
    const double hours = hours_of(world.past[row]);
    all_h += hours;
    const Cause cause = cause_of(job);
    if (cause.name.empty()) continue;
    Loss& loss = found[{job.state, std::string(cause.name)}];
    loss.state = job.state;
    loss.cause = cause.name;
    loss.confidence = cause.confidence;
    ++loss.jobs;
    loss.gpu_h += hours;
  }
  std::vector<Loss> losses;
  for (auto& [key, loss] : found) {
    loss.share = all_h > 0 ? loss.gpu_h / all_h : 0;
    losses.push_back(std::move(loss));
  }
  std::ranges::stable_sort(losses, std::greater(), &Loss::gpu_h);
  return losses;
}

std::vector<WaitShare> find_reasons(const AccountingDump& dump, const RecordedCluster& world) {
  std::map<std::string, WaitShare> found;
  double all_s = 0;
  for (const std::uint32_t index : world.of) {
    const AccountedJob& job = dump.jobs[index];
    const auto wait_s = static_cast<double>((job.start - job.eligible).count());
    if (wait_s == 0) continue;
    all_s += wait_s;
    WaitShare& reason = found[job.reason.empty() ? "None" : job.reason];
    ++reason.jobs;
    reason.share += wait_s;
  }
  std::vector<WaitShare> reasons;
  for (auto& [name, reason] : found) {
    reason.reason = name;
    reason.share /= all_s;
    reasons.push_back(std::move(reason));
  }
  std::ranges::stable_sort(reasons, std::greater(), &WaitShare::share);
  return reasons;
}

}  // namespace schedmate::whatif
