// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For benchmarks of advice whose jobs have no files: every tree is empty and always another.

#include <optional>

#include "advisor/advisor.hpp"

namespace schedmate {

inline advisor::TreeAccess empty_tree() {
  advisor::TreeAccess tree;
  tree.read = [](const std::string&, std::span<const std::string>) -> Result<advisor::Closure> {
    return advisor::Closure();
  };
  tree.unchanged = [](const std::string&, std::span<const advisor::FileStamp>) { return false; };
  tree.text = [](const std::string&, std::string_view) { return std::optional<std::string>(); };
  return tree;
}

}  // namespace schedmate
