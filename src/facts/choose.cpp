// SPDX-License-Identifier: Apache-2.0
#include "facts/choose.hpp"

#include <algorithm>
#include <map>

namespace schedmate::facts {
namespace {

constexpr double least = confidence::weak - 0.05;
constexpr double weight_of_others = 0.25;  ///< rules share sources: agreement counts, but little

struct Group {
  FactValue value;
  std::vector<Finding> findings;  ///< best first

  /// The findings by their rules' names, the best of each.
  [[nodiscard]] std::vector<const Finding*> by_rule() const {
    std::vector<const Finding*> found;
    for (const Finding& finding : findings) {
      if (std::ranges::find(found, finding.why, &Finding::why) == found.end())
        found.push_back(&finding);
    }
    return found;
  }

  [[nodiscard]] double joint() const {
    double doubt = 1;
    for (const Finding* finding : by_rule()) {
      const double weight = finding == &findings.front() ? 1 : weight_of_others;
      doubt *= 1 - weight * finding->fact.confidence;
    }
    return 1 - doubt;
  }
};

std::vector<Group> group(Findings findings) {
  std::ranges::stable_sort(findings, std::greater(),
                           [](const Finding& finding) { return finding.fact.confidence; });
  std::vector<Group> groups;
  for (Finding& finding : findings) {
    const auto same = std::ranges::find(groups, finding.fact.value, &Group::value);
    if (same != groups.end()) {
      same->findings.push_back(std::move(finding));
    } else {
      groups.push_back({finding.fact.value, {std::move(finding)}});
    }
  }
  std::ranges::stable_sort(groups, std::greater(), &Group::joint);
  return groups;
}

Grounds grounds_of(const std::vector<Group>& groups) {
  const Group& won = groups.front();
  Grounds grounds{.rank = std::min(won.joint(), 0.99),
                  .rules = static_cast<int>(won.by_rule().size()),
                  .why = won.findings.front().why};
  if (groups.size() > 1) grounds.rival = groups[1].joint();
  grounds.rivals = static_cast<int>(std::ranges::count_if(
      groups.begin() + 1, groups.end(), [](const Group& other) { return other.joint() >= least; }));
  return grounds;
}

std::optional<Grounds> settle(const std::string& field, std::vector<Group> groups, Facts& facts) {
  Fact answer = groups.front().findings.front().fact;
  Grounds grounds = grounds_of(groups);
  answer.confidence = grounds.rank;
  const bool taken = answer.confidence >= least && !answer.evidence.empty();
  for (std::size_t i = taken ? 1 : 0; i < groups.size(); ++i) {
    const Finding& best = groups[i].findings.front();
    facts.rejected.push_back({field, best.fact, best.why});
  }
  if (!taken) return std::nullopt;
  facts.facts[field] = std::move(answer);
  return grounds;
}

}  // namespace

GroundsByField choose(Findings findings, Facts& facts) {
  std::map<std::string, Findings> by_field;
  for (Finding& finding : findings) by_field[finding.field].push_back(std::move(finding));
  GroundsByField grounds;
  for (auto& [field, found] : by_field) {
    if (auto rests_on = settle(field, group(std::move(found)), facts))
      grounds[field] = *std::move(rests_on);
  }
  return grounds;
}

}  // namespace schedmate::facts
