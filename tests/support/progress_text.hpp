// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is read of the progress lines that tests write.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "log/progress/tracker.hpp"

namespace schedmate::testing {

inline Progress progress_of(const std::vector<std::string>& lines) {
  progress::ProgressTracker tracker;
  for (const auto& line : lines) tracker.add(line);
  return tracker.now();
}

/// `make(i)` for each i of 1..count, lines of one text separated by \n.
template <class Make>
Progress progress_of_each(int count, const Make& make) {
  progress::ProgressTracker tracker;
  for (int i = 1; i <= count; ++i) {
    const std::string text = make(i);
    for (std::size_t at = 0; at <= text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      tracker.add(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
  }
  return tracker.now();
}

}  // namespace schedmate::testing
