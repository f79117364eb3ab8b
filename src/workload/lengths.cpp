// SPDX-License-Identifier: Apache-2.0
#include "workload/lengths.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace schedmate::workload {
namespace {

constexpr std::uint64_t length_salt = 0x6c656e677468ULL;
constexpr double shortest = 10;
constexpr double longest = 1e7;
constexpr double factor = 1.05;

double log_duration(const Job& job) {
  return std::log(std::max(1.0, static_cast<double>(job.duration.count())));
}

struct Moments {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  [[nodiscard]] double mean() const { return count > 0 ? sum / count : 0; }
  [[nodiscard]] double deviation() const {
    return count > 0 ? std::sqrt(std::max(0.0, squares / count - mean() * mean())) : 0;
  }
};

}  // namespace

std::vector<double> length_grid() {
  std::vector<double> grid;
  for (double length = shortest; length <= longest; length *= factor) {
    const double whole = std::round(length);
    if (grid.empty() || whole > grid.back()) grid.push_back(whole);
  }
  return grid;
}

std::vector<std::uint16_t> draw_lengths(const Trace& trace,
                                        std::span<const std::uint32_t> template_of_row,
                                        double share, std::uint64_t seed) {
  Moments all;
  std::vector<Moments> of_template;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const std::uint32_t number = template_of_row[row];
    if (number >= of_template.size()) of_template.resize(number + 1);
    const double log_s = log_duration(trace.jobs[row]);
    all.add(log_s);
    of_template[number].add(log_s);
  }
  Moments means;  // weighted by rows
  for (const std::uint32_t number : template_of_row) means.add(of_template[number].mean());
  const double rest = std::sqrt(share * (1 - share));
  const double middle = std::log(std::sqrt(shortest * longest));
  const std::vector<double> grid = length_grid();
  std::vector<std::uint16_t> lengths;
  lengths.reserve(trace.jobs.size());
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const std::uint32_t number = template_of_row[row];
    const double shared = Random(mix(mix(seed ^ length_salt) ^ number)).normal();
    const double own = Random(mix(mix(seed ^ ~length_salt) ^ row)).normal();
    const double noise =
        rest * (means.deviation() * shared + of_template[number].deviation() * own);
    const double log_length = middle + share * (log_duration(trace.jobs[row]) - all.mean()) + noise;
    const auto above = std::ranges::lower_bound(grid, std::exp(log_length));
    const auto place =
        above == grid.end() ? grid.size() - 1 : static_cast<std::size_t>(above - grid.begin());
    lengths.push_back(static_cast<std::uint16_t>(place));
  }
  return lengths;
}

}  // namespace schedmate::workload
