// SPDX-License-Identifier: Apache-2.0
#include "log/failure/classify.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::array classifiers{
#define CLASSIFIER(name, summary) \
  failure::ClassifierRow{#name, summary, failure::make_##name##_classifier},
#include "log/failure/classifiers.def"
#undef CLASSIFIER
};
constexpr auto kinds = std::to_array<std::string_view>({"failure", "warning", "progress", "other"});

}  // namespace

std::span<const failure::ClassifierRow> failure::classifier_rows() { return classifiers; }

std::vector<SeamRow> classifier_names() {
  std::vector<SeamRow> names;
  for (const failure::ClassifierRow& row : classifiers) names.push_back({row.name, row.summary});
  return names;
}

Result<const failure::ClassifierRow*> failure::find_classifier(std::string_view name) {
  const auto* const row = std::ranges::find(classifiers, name, &failure::ClassifierRow::name);
  if (row != classifiers.end()) return row;
  std::vector<std::string_view> names;
  for (const failure::ClassifierRow& each : classifiers) names.push_back(each.name);
  return fail(ErrorCode::not_found, unknown_name("classifier", name, names));
}

std::string_view failure::name_of(failure::LineKind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

std::optional<failure::LineKind> failure::kind_named(std::string_view name) {
  const auto* const held = std::ranges::find(kinds, name);
  if (held == kinds.end()) return std::nullopt;
  return static_cast<failure::LineKind>(held - kinds.begin());
}

failure::LineVerdict failure::LineKinds::of(std::uint64_t hash, std::string_view state) {
  if (const failure::LineVerdict* held = cache_.find(hash)) return *held;
  const failure::LineVerdict made = classify_(state);
  cache_.keep(hash, made);
  return made;
}

}  // namespace schedmate
