// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Measuring and printing, for the benchmarks of store and search.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/need.hpp"

namespace schedmate::bench {

using testing::need;

/// Wall and processor time since it was made. On a busy machine the first says little.
class Watch {
 public:
  [[nodiscard]] double wall_ms() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
  }
  [[nodiscard]] double cpu_ms() const { return cpu_now_ms() - cpu_begin_ms_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double cpu_now_ms() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& t) {
      return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
  }
  Clock::time_point begin_ = Clock::now();
  double cpu_begin_ms_ = cpu_now_ms();
};

/// "median (99th percentile; processor time of all threads)" of some runs, in milliseconds.
template <class Work>
std::string measure(int runs, Work work) {
  std::vector<double> took;
  const Watch all;
  for (int i = 0; i < runs; ++i) {
    const Watch watch;
    work();
    took.push_back(watch.wall_ms());
  }
  const double cpu_ms = all.cpu_ms() / runs;
  std::ranges::sort(took);
  return fmt::format("{:.2f} ({:.2f}; {:.2f})", took[took.size() / 2], took[took.size() * 99 / 100],
                     cpu_ms);
}

inline void row(const std::string& what, const std::string& is, const std::string& target = "") {
  fmt::print("{:<56} {:>28} {:>8}\n", what, is, target);
  std::fflush(stdout);
}

inline double peak_gib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

}  // namespace schedmate::bench
