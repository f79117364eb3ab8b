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

  [[nodiscard]] double joint() const {
    double doubt = 1 - findings.front().fact.confidence;
    std::vector<std::string> reasons{findings.front().why};
    for (const Finding& other : findings) {
      if (std::ranges::find(reasons, other.why) != reasons.end()) continue;
      reasons.push_back(other.why);
      doubt *= 1 - weight_of_others * other.fact.confidence;
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

void settle(const std::string& field, std::vector<Group> groups, Facts& facts) {
  Fact answer = groups.front().findings.front().fact;
  answer.confidence = std::min(groups.front().joint(), 0.99);
  const bool taken = answer.confidence >= least && !answer.evidence.empty();
  for (std::size_t i = taken ? 1 : 0; i < groups.size(); ++i) {
    const Finding& best = groups[i].findings.front();
    facts.rejected.push_back({field, best.fact, best.why});
  }
  if (taken) facts.facts[field] = std::move(answer);
}

}  // namespace

void choose(Findings findings, Facts& facts) {
  std::map<std::string, Findings> by_field;
  for (Finding& finding : findings) by_field[finding.field].push_back(std::move(finding));
  for (auto& [field, found] : by_field) settle(field, group(std::move(found)), facts);
}

}  // namespace schedmate::facts
