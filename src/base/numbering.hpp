// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace schedmate {

/// Names as numbers from 0 on, in the order in which they are first asked for.
class Numbering {
 public:
  std::uint32_t of(const std::string& name) {
    const auto [found, fresh] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }
  /// By number.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace schedmate
