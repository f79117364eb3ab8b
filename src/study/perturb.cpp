// SPDX-License-Identifier: Apache-2.0
#include "study/perturb.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace schedmate::study {
namespace {

template <class Value>
void put_in_order(std::vector<Value>& values, const std::vector<std::uint32_t>& rows) {
  std::vector<Value> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t row : rows) sorted.push_back(std::move(values[row]));
  values = std::move(sorted);
}

}  // namespace

void delay_submissions(Trace& trace, std::uint64_t seed) {
  constexpr std::int64_t latest_s = 2;
  Random random(mix(seed));
  for (Job& job : trace.jobs) job.submit += Seconds(random.between(0, latest_s));
  std::vector<std::uint32_t> rows(trace.jobs.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return trace.jobs[row].submit; });
  put_in_order(trace.jobs, rows);
  for (auto& [name, values] : trace.columns) put_in_order(values, rows);
}

}  // namespace schedmate::study
