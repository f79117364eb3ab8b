// SPDX-License-Identifier: Apache-2.0
#include "advisor/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "advisor/names.hpp"
#include "base/text.hpp"

namespace schedmate::advisor {
namespace {

enum class Kind : std::uint8_t { name, word, number, length };

struct FieldRule {
  std::string_view name;
  Kind kind = Kind::word;
  double weight = 0;
  bool decisive = false;
};

/// Weights by how much a field shows whether two jobs are the same kind of work; chosen on labelled
/// jobs (bench/similar_labels.cpp), flat around these values.
constexpr auto field_rules = std::to_array<FieldRule>({
    {"model_name", Kind::name, 3, true},    {"dataset", Kind::name, 3, true},
    {"task", Kind::name, 1, true},          {"model_family", Kind::name, 1, true},
    {"params_scale", Kind::word, 1, true},  {"pretrained", Kind::word, 1, true},
    {"resolution", Kind::word, 1, true},    {"sequence_length", Kind::number, 1, true},
    {"task_type", Kind::word, 0.5, true},   {"framework", Kind::name, 0.5, false},
    {"optimizer", Kind::name, 0.75, false}, {"distributed", Kind::word, 0.5, false},
    {"precision", Kind::word, 0.5, false},  {"batch_size", Kind::number, 0.75, false},
    {"length", Kind::length, 0.75, false},  {"gpus", Kind::number, 0.5, false},
    {"gpu_type", Kind::word, 0.5, false},   {"expect", Kind::word, 0, true},
    {"runs", Kind::number, 0, true},
});

/// A field that only one side knows mostly agrees: facts go missing more often than they change.
constexpr double unknown_agreement = 0.8;
constexpr double alike_names = 0.6;  ///< share of words from which two names may mean the same

double ratio_agreement(double a, double b) {
  if (a == b) return 1;
  if (!(a > 0) || !(b > 0)) return 0;
  return 1 / (1 + std::abs(std::log2(a / b)));
}

double length_agreement(std::string_view ours, std::string_view theirs) {
  const auto a = parse_length(ours);
  const auto b = parse_length(theirs);
  if (!a || !b) return unknown_agreement;
  return a->unit == b->unit ? ratio_agreement(a->amount, b->amount) : 0.25;
}

double agreement(Kind kind, std::string_view ours, std::string_view theirs) {
  if (ours == theirs) return 1;
  if (kind == Kind::name) {
    const NameSimilarity similarity = compare_names(ours, theirs);
    return similarity.sizes_differ || similarity.words < alike_names ? 0 : similarity.words;
  }
  if (kind == Kind::length) return length_agreement(ours, theirs);
  if (kind == Kind::word) return 0;
  const auto left = parse_number<double>(ours);
  const auto right = parse_number<double>(theirs);
  return left && right ? ratio_agreement(*left, *right) : 0;
}

/// Names may be spelled in two ways; numbers and words that decide must be equal.
bool decides(const FieldRule& rule, double agreed) {
  return rule.decisive && (rule.kind == Kind::name ? agreed == 0 : agreed < 1);
}

bool identifies(std::string_view name) {
  return name == "model_name" || name == "model_family" || name == "dataset";
}

/// Calls `each` (rule, agreement) for every field that both know. Returns the score.
template <class Each>
double compare(const FieldRow& ours, const FieldRow& theirs, const Each& each) {
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < field_rules.size(); ++i) {
    const FieldRule& rule = field_rules[i];
    const bool one_knows = !ours.at(i).empty() || !theirs.at(i).empty();
    const bool both_know = !ours.at(i).empty() && !theirs.at(i).empty();
    if (!one_knows) continue;
    const double agreed =
        both_know ? agreement(rule.kind, ours.at(i), theirs.at(i)) : unknown_agreement;
    weights += rule.weight;
    sum += rule.weight * agreed;
    if (both_know) each(i, agreed);
  }
  return weights > 0 ? sum / weights : 0;
}

}  // namespace

FieldRow::FieldRow(const Fields& fields) {
  static_assert(field_rules.size() == size);
  for (std::size_t i = 0; i < size; ++i) values_[i] = field(fields, field_rules[i].name);
}

bool Match::same_kind() const {
  return std::ranges::none_of(differing, &FieldDifference::decisive) &&
         (std::ranges::any_of(agreeing, identifies) ||
          std::ranges::any_of(differing, identifies, &FieldDifference::field));
}

Match match_fields(const Fields& ours, const Fields& theirs) {
  const FieldRow left(ours);
  const FieldRow right(theirs);
  Match match;
  match.score = compare(left, right, [&](std::size_t i, double agreed) {
    const FieldRule& rule = field_rules[i];
    if (agreed == 1)
      match.agreeing.emplace_back(rule.name);
    else
      match.differing.push_back({std::string(rule.name), std::string(left.at(i)),
                                 std::string(right.at(i)), decides(rule, agreed)});
  });
  return match;
}

Similarity similarity(const FieldRow& ours, const FieldRow& theirs) {
  bool decided = false;
  bool identified = false;
  const double score = compare(ours, theirs, [&](std::size_t i, double agreed) {
    decided = decided || decides(field_rules[i], agreed);
    identified = identified || identifies(field_rules[i].name);
  });
  return {score, !decided && identified};
}

std::string describe(const Match& match) {
  // That both run once and to the end is the rule, and no news.
  const auto is_news = [](std::string_view name) { return name != "expect" && name != "runs"; };
  std::string text;
  for (const std::string& name : match.agreeing)
    if (is_news(name)) text += (text.empty() ? "same " : ", ") + name;
  for (const FieldDifference& each : match.differing) {
    text += fmt::format("{}{} {} here, {} there", text.empty() ? "" : "; ", each.field, each.ours,
                        each.theirs);
  }
  return text;
}

}  // namespace schedmate::advisor
