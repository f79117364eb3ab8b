// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Trees that are written by hand in a test, and what is found in them.

#include <string>
#include <utility>

#include "tests/tidy/tree.hpp"

namespace schedmate::tidy {

inline File file(std::string path, std::string text) {
  const auto size = text.size();
  return {std::move(path), std::move(text), size};
}

inline std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// "line: what" of each finding, one a line.
inline std::string listed(const Findings& findings) {
  std::string all;
  for (const auto& finding : findings) {
    all += std::to_string(finding.line) + ": " + finding.what + "\n";
  }
  return all;
}

}  // namespace schedmate::tidy
