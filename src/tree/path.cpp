// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "tree/tree.hpp"

namespace schedmate::tree {

Result<std::string> join_path(std::string_view base, std::string_view path) {
  if (base.starts_with('/') || path.starts_with('/')) {
    return fail(ErrorCode::refused, fmt::format("{}: outside the tree", path));
  }
  if (path.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::invalid, "a path cannot contain a NUL byte");
  }
  std::vector<std::string_view> parts;
  for (const std::string_view side : {base, path}) {
    for (const std::string_view part : split(side, '/')) {
      if (part.empty() || part == ".") continue;
      if (part != "..") {
        parts.push_back(part);
      } else if (!parts.empty()) {
        parts.pop_back();
      } else {
        return fail(ErrorCode::refused, fmt::format("{}: outside the tree", path));
      }
    }
  }
  return parts.empty() ? std::string(".") : fmt::format("{}", fmt::join(parts, "/"));
}

std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}

}  // namespace schedmate::tree
