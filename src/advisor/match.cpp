// SPDX-License-Identifier: Apache-2.0
#include "advisor/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "advisor/names.hpp"
#include "advisor/variant.hpp"
#include "base/text.hpp"

namespace schedmate::advisor {
namespace {

enum class Kind : std::uint8_t { name, word, number, length, variant, program };

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
    {"runs", Kind::number, 0, true},        {"method", Kind::word, 0, true},
    {"variant", Kind::variant, 0, true},    {"program", Kind::program, 0, false},
});

/// A field that only one side knows mostly agrees: facts go missing more often than they change.
constexpr double unknown_agreement = 0.8;
constexpr double same_program = 1.0 / 3;  ///< share of files; a config decides which are read

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
    return similarity.alike() ? similarity.words : 0;
  }
  if (kind == Kind::length) return length_agreement(ours, theirs);
  if (kind == Kind::program) return program_agreement(ours, theirs);
  if (kind == Kind::word) return 0;
  const auto left = parse_number<double>(ours);
  const auto right = parse_number<double>(theirs);
  return left && right ? ratio_agreement(*left, *right) : 0;
}

/// Names may be spelled in two ways; numbers and words that decide must be equal.
bool decides(const FieldRule& rule, double agreed) {
  const bool loose = rule.kind == Kind::name || rule.kind == Kind::variant;
  return rule.decisive && (loose ? agreed == 0 : agreed < 1);
}

constexpr std::size_t rule_of(std::string_view name) {
  const auto* const found = std::ranges::find(field_rules, name, &FieldRule::name);
  return static_cast<std::size_t>(found - field_rules.begin());
}

/// What two jobs agree in, as far as it shows that they are the same kind of work.
class Identity {
 public:
  Identity() { agreed_.fill(unknown); }

  void see(std::size_t rule, double agreed) {
    decided_ = decided_ || decides(field_rules[rule], agreed);
    agreed_[rule] = agreed;
  }
  /// A difference makes them two, whatever else is known.
  [[nodiscard]] bool decided() const { return decided_; }

  /// Two programs do the same work when network, data and framework are the same by name. Two runs
  /// of one program whose network or data nobody could read are alike when their commands say the
  /// same. Of jobs without files (made ones, old records) one of the names is enough.
  [[nodiscard]] bool same_kind() const {
    constexpr std::size_t model_rule = rule_of("model_name");
    constexpr std::size_t family_rule = rule_of("model_family");
    constexpr std::size_t data_rule = rule_of("dataset");
    constexpr std::size_t framework_rule = rule_of("framework");
    constexpr std::size_t variant_rule = rule_of("variant");
    constexpr std::size_t program_rule = rule_of("program");
    const double model = agreed_[model_rule];
    const double data = agreed_[data_rule];
    const double program = agreed_[program_rule];
    const bool model_known = model != unknown || agreed_[family_rule] != unknown;
    if (decided_ || (!model_known && data == unknown)) return false;
    if (program == unknown) return true;
    if (program < same_program) return model == 1 && data == 1 && agreed_[framework_rule] == 1;
    return (model_known && data != unknown) || agreed_[variant_rule] == 1;
  }

 private:
  static constexpr double unknown = -1;
  std::array<double, FieldRow::size> agreed_{};  ///< by rule
  bool decided_ = false;
};

double agreement_on(std::size_t rule, const FieldRow& ours, const FieldRow& theirs) {
  const FieldRule& which = field_rules[rule];
  if (which.kind != Kind::variant) return agreement(which.kind, ours.at(rule), theirs.at(rule));
  return variant_agreement(ours.at(rule), theirs.at(rule), [&](std::string_view fact) {
    const std::size_t at = rule_of(fact);
    return at < field_rules.size() && !ours.at(at).empty() && !theirs.at(at).empty();
  });
}

/// Calls `each` (rule, agreement) for every field that both know; once it gives false, fields
/// without weight are passed over. Returns the score.
template <class Each>
double compare(const FieldRow& ours, const FieldRow& theirs, const Each& each) {
  double sum = 0;
  double weights = 0;
  bool whole = true;
  for (std::size_t i = 0; i < field_rules.size(); ++i) {
    const FieldRule& rule = field_rules[i];
    const bool one_knows = !ours.at(i).empty() || !theirs.at(i).empty();
    const bool both_know = !ours.at(i).empty() && !theirs.at(i).empty();
    if (!one_knows || (rule.weight == 0 && !whole)) continue;
    const double agreed = both_know ? agreement_on(i, ours, theirs) : unknown_agreement;
    weights += rule.weight;
    sum += rule.weight * agreed;
    if (both_know) whole = each(i, agreed);
  }
  return weights > 0 ? sum / weights : 0;
}

}  // namespace

FieldRow::FieldRow(const Fields& fields) {
  static_assert(field_rules.size() == size);
  for (std::size_t i = 0; i < size; ++i) values_[i] = field(fields, field_rules[i].name);
}

Match match_fields(const Fields& ours, const Fields& theirs) {
  const FieldRow left(ours);
  const FieldRow right(theirs);
  Match match;
  Identity identity;
  match.score = compare(left, right, [&](std::size_t i, double agreed) {
    const FieldRule& rule = field_rules[i];
    identity.see(i, agreed);
    if (agreed == 1) {
      match.agreeing.emplace_back(rule.name);
      return true;
    }
    FieldDifference different{std::string(rule.name), std::string(left.at(i)),
                              std::string(right.at(i)), decides(rule, agreed)};
    if (rule.kind == Kind::variant) {
      auto [here, there] = differing_slots(left.at(i), right.at(i));
      different.ours = std::move(here);
      different.theirs = std::move(there);
    }
    match.differing.push_back(std::move(different));
    return true;
  });
  match.same_kind = identity.same_kind();
  return match;
}

Similarity similarity(const FieldRow& ours, const FieldRow& theirs) {
  Identity identity;
  const double score = compare(ours, theirs, [&](std::size_t i, double agreed) {
    identity.see(i, agreed);
    return !identity.decided();
  });
  return {score, identity.same_kind()};
}

std::string describe(const Match& match) {
  // That both run once and to the end is the rule, and no news.
  const auto is_news = [](std::string_view name) {
    return name != "expect" && name != "runs" && name != "program";
  };
  std::string text;
  for (const std::string& name : match.agreeing)
    if (is_news(name)) text += (text.empty() ? "same " : ", ") + name;
  for (const FieldDifference& each : match.differing) {
    // What the command of another user names is not told.
    if (each.field == "program" || each.field == "variant") continue;
    text += fmt::format("{}{} {} here, {} there", text.empty() ? "" : "; ", each.field, each.ours,
                        each.theirs);
  }
  return text;
}

}  // namespace schedmate::advisor
