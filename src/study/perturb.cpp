// SPDX-License-Identifier: Apache-2.0
#include "study/perturb.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace schedmate::study {
namespace {

template <class Value>
std::vector<Value> in_order(const std::vector<Value>& values,
                            const std::vector<std::uint32_t>& rows) {
  std::vector<Value> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t row : rows) sorted.push_back(values[row]);
  return sorted;
}

}  // namespace

Perturbed perturb(const Trace& trace, std::uint64_t seed) {
  constexpr std::int64_t latest_s = 2;
  std::vector<Job> jobs = trace.jobs;
  Random random(mix(seed));
  for (Job& job : jobs) job.submit += Seconds(random.between(0, latest_s));
  Perturbed result;
  result.rows.resize(jobs.size());
  std::iota(result.rows.begin(), result.rows.end(), 0U);
  std::ranges::stable_sort(result.rows, {}, [&](std::uint32_t row) { return jobs[row].submit; });
  result.trace.jobs = in_order(jobs, result.rows);
  result.trace.users = trace.users;
  result.trace.vcs = trace.vcs;
  for (const auto& [name, values] : trace.columns)
    result.trace.columns[name] = in_order(values, result.rows);
  result.trace.packing = trace.packing;
  result.trace.forecast = trace.forecast;
  return result;
}

Workload permuted(const Workload& workload, const std::vector<std::uint32_t>& rows) {
  Workload result = workload;
  for (auto* column : {&result.template_of_row, &result.profile_of_row, &result.facts_of_row,
                       &result.place_of_row})
    *column = in_order(*column, rows);
  return result;
}

}  // namespace schedmate::study
