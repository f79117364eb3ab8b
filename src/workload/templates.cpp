// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <schedmate/workload.hpp>
#include <unordered_map>

#include "base/random.hpp"

namespace schedmate {
namespace {

constexpr std::chrono::hours gap{1};
constexpr double alike_log2 = 1;  ///< a factor 2

/// What resubmissions have in common, as far as a trace shows.
struct ShapeKey {
  std::uint32_t user = 0, vc = 0;
  std::int32_t gpus = 0;
  bool operator==(const ShapeKey&) const = default;
};

struct ShapeHash {
  std::size_t operator()(const ShapeKey& key) const {
    const std::uint64_t who = (std::uint64_t{key.user} << 32U) | key.vc;
    return mix(mix(who) ^ static_cast<std::uint64_t>(key.gpus));
  }
};

struct LastSubmission {
  SimTime submit;
  double log2_s = 0;
  std::uint32_t number = 0;
};

}  // namespace

std::vector<std::uint32_t> cut_templates(const Trace& trace, TemplateCut cut) {
  std::unordered_map<ShapeKey, LastSubmission, ShapeHash> last;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(trace.jobs.size());
  std::uint32_t next = 0;
  for (const Job& job : trace.jobs) {
    const auto [at, fresh] = last.try_emplace({job.user, job.vc, job.gpus});
    LastSubmission& before = at->second;
    const double log2_s = std::log2(std::max(1.0, static_cast<double>(job.duration.count())));
    const bool same = cut == TemplateCut::by_duration
                          ? std::abs(log2_s - before.log2_s) <= alike_log2
                          : job.submit - before.submit <= gap;
    const std::uint32_t number = !fresh && same ? before.number : next++;
    before = {job.submit, log2_s, number};
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace schedmate
