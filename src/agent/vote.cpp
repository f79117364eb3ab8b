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

using Ballots = std::map<std::string, VoteCount>;  // by comparable value

/// Of equal votes the first value in order wins nothing: a majority is more than half of all.
const VoteCount* winner(const Ballots& ballots, int samples) {
  for (const auto& [value, ballot] : ballots) {
    if (is_majority(ballot.votes, samples)) return &ballot;
  }
  return nullptr;
}

}  // namespace

VoteOutcome vote(std::span<const CheckedClaim> claims, int samples) {
  std::map<std::pair<bool, std::string>, Ballots> polls;
  for (const CheckedClaim& one : claims) {
    VoteCount& ballot = polls[{one.claim.extra, one.claim.field}][comparable(one.fact.value)];
    ++ballot.votes;
    if (ballot.best == nullptr || one.fact.confidence > ballot.best->fact.confidence) {
      ballot.best = &one;
    }
  }
  VoteOutcome verdict;
  for (const auto& [name, ballots] : polls) {
    const VoteCount* won = winner(ballots, samples);
    for (const auto& [value, ballot] : ballots) {
      if (&ballot != won) verdict.dropped.push_back({ballot.best->claim, "no majority for it"});
    }
    if (won == nullptr) continue;
    Fact fact = won->best->fact;
    fact.confidence *= static_cast<double>(won->votes) / std::max(samples, 1);
    (name.first ? verdict.extra : verdict.facts)[name.second] = std::move(fact);
  }
  return verdict;
}

}  // namespace schedmate::agent
