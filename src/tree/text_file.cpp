// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tree/tree.hpp"

namespace schedmate::tree {

std::string_view TextFile::line(int number) const {
  if (number < 1 || number > lines()) return {};
  const auto index = static_cast<std::size_t>(number - 1);
  const std::size_t start = line_starts[index];
  const std::size_t next = index + 1 < line_starts.size() ? line_starts[index + 1] : text.size();
  std::string_view content = std::string_view(text).substr(start, next - start);
  if (content.ends_with('\n')) content.remove_suffix(1);
  if (content.ends_with('\r')) content.remove_suffix(1);
  return content;
}

int TextFile::line_of(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(line_starts, offset);
  return std::max(1, static_cast<int>(after - line_starts.begin()));
}

}  // namespace schedmate::tree
