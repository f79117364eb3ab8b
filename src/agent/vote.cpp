// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <schedmate/question.hpp>

#include "agent/evaluate.hpp"
#include "agent/fields.hpp"

namespace schedmate::agent {
namespace {

struct VoteCount {
  const CheckedClaim* best = nullptr;
  int votes = 0;
};

using VoteCounts = std::map<std::string, VoteCount>;  // by comparable value

/// Of equal votes the first value in order wins nothing: a majority is more than half of all.
const VoteCount* winner(const VoteCounts& counts, int samples) {
  for (const auto& [value, count] : counts) {
    if (is_majority(count.votes, samples)) return &count;
  }
  return nullptr;
}

}  // namespace

VoteOutcome vote(std::span<const CheckedClaim> claims, int samples) {
  std::map<std::pair<bool, std::string>, VoteCounts> polls;
  for (const CheckedClaim& one : claims) {
    VoteCount& count = polls[{one.claim.extra, one.claim.field}][comparable(one.fact.value)];
    ++count.votes;
    if (count.best == nullptr || one.fact.confidence > count.best->fact.confidence) {
      count.best = &one;
    }
  }
  VoteOutcome verdict;
  for (const auto& [name, counts] : polls) {
    const VoteCount* won = winner(counts, samples);
    for (const auto& [value, count] : counts) {
      if (&count != won) verdict.dropped.push_back({count.best->claim, "no majority for it"});
    }
    if (won == nullptr) continue;
    Fact fact = won->best->fact;
    fact.confidence *= static_cast<double>(won->votes) / std::max(samples, 1);
    (name.first ? verdict.extra : verdict.facts)[name.second] = std::move(fact);
  }
  return verdict;
}

}  // namespace schedmate::agent
