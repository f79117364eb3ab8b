// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of models, data sets and tasks, made comparable: "ResNet-50", "resnet50" and
/// "/models/resnet_50" are the same words; "GPT-2 124M" and "GPT-2 XL" differ in size.

#include <string>
#include <string_view>

namespace schedmate::advisor {

/// Lower-case words and numbers, joined by '-': "vit-l-16". Folders and a hub's owner are left out,
/// so that no path and no person's name stays.
[[nodiscard]] std::string normal_name(std::string_view name);

/// How alike two normalised names are.
struct NameSimilarity {
  double words = 0;           ///< 0 to 1: shared words (Dice)
  bool sizes_differ = false;  ///< each has a size or number that the other lacks
  /// They may mean the same.
  [[nodiscard]] bool alike() const {
    constexpr double enough = 0.6;  // share of words
    return !sizes_differ && words >= enough;
  }
};
[[nodiscard]] NameSimilarity compare_names(std::string_view a, std::string_view b);

}  // namespace schedmate::advisor
