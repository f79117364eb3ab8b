// SPDX-License-Identifier: Apache-2.0
/// The chain inside its confinement: what reads a stranger's tree has no rights to lose.
#include <schedmate/facts.hpp>

#include "core/facts_json.hpp"
#include "facts/extract.hpp"
#include "tree/confine.hpp"

namespace schedmate {
namespace {

/// What the child says: facts as JSON, or "!" with the number of the error code and the sentence.
std::string told_by_child(const JobSource& job, const FactRules& rules) {
  auto tree = Tree::open(job.root);
  const auto facts = tree ? extract_facts_in(*tree, job, rules) : tl::unexpected(tree.error());
  if (facts) return facts_json(*facts, FactsDetail::with_rejected);
  const char code = static_cast<char>('0' + static_cast<int>(facts.error().code));
  return std::string("!") + code + facts.error().message;
}

}  // namespace

Result<Facts> extract_facts(const JobSource& job) {
  const auto rules = load_fact_rules(job.rules);
  if (!rules) return tl::unexpected(rules.error());
  return extract_facts(job, **rules);
}

Result<Facts> extract_facts(const JobSource& job, const FactRules& rules) {
  const auto confinement = confined_to_owner(job.root, {});
  if (!confinement) return tl::unexpected(confinement.error());
  const auto told = run_confined(*confinement, [&] { return told_by_child(job, rules); });
  if (!told) return tl::unexpected(told.error());
  if (told->starts_with('!') && told->size() > 1)
    return fail(static_cast<ErrorCode>((*told)[1] - '0'), told->substr(2));
  return read_facts_json(*told);
}

}  // namespace schedmate
