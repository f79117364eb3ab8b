// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a test waits without hanging its verdict on a clock: for a state, with a bound that only a
/// defect reaches, however busy the machine is (docs/testing.md).

#include <chrono>
#include <ctime>
#include <thread>

namespace schedmate::testing {

/// What no wait of a test exceeds. An operation that is to end at a deadline of its own ends within
/// it; that it was the deadline is what its error says.
inline constexpr std::chrono::seconds patience{60};

/// Whether it becomes true.
template <class Condition>
bool soon(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// Whether the work ends.
template <class Work>
bool ends(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - begin < patience;
}

/// Processor seconds that the work takes in this process: how long somebody else had the processor
/// does not count.
template <class Work>
double cpu_seconds(const Work& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace schedmate::testing
