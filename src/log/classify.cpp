// SPDX-License-Identifier: Apache-2.0
#include "log/classify.hpp"

#include <array>

namespace schedmate {
namespace {

constexpr std::array rows{
#define CLASSIFIER(name, summary) ClassifierRow{#name, summary, make_##name##_classifier},
#include "log/classifiers.def"
#undef CLASSIFIER
};

}  // namespace

std::span<const ClassifierRow> classifier_rows() { return rows; }

std::vector<SeamRow> classifier_names() {
  std::vector<SeamRow> names;
  for (const ClassifierRow& row : rows) names.push_back({row.name, row.summary});
  return names;
}

std::string_view name_of(LineKind kind) {
  constexpr auto names =
      std::to_array<std::string_view>({"failure", "warning", "progress", "other"});
  return names[static_cast<std::size_t>(kind)];
}

LineVerdict LineKinds::of(std::uint64_t hash, std::string_view state) {
  if (const LineVerdict* held = cache_.find(hash)) return *held;
  const LineVerdict made = classify_(state);
  cache_.keep(hash, made);
  return made;
}

}  // namespace schedmate
