// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a test holds against the memory of its own process.

#include <fstream>
#include <string>

namespace schedmate::testing {

/// RssAnon of this process, KiB.
inline long anonymous_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stol(line.substr(8));
  return 0;
}

/// A bound on the growth of it, KiB. A sanitizer keeps up to 256 MiB of what was freed.
constexpr long growth_kib(long mib) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (2 * mib + 300) * 1024;
#else
  return mib * 1024;
#endif
}

}  // namespace schedmate::testing
