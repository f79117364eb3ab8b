// SPDX-License-Identifier: Apache-2.0
/// The chain inside its confinement: what reads a stranger's tree has no rights to lose.
#include <schedmate/facts.hpp>

#include "core/facts_json.hpp"
#include "facts/extract.hpp"
#include "tree/reader.hpp"

namespace schedmate {
namespace {

/// What the child says: facts as JSON, or "!" with the number of the error code and the sentence.
std::string reply_of_child(const tree::TreeReader& reader, const JobSource& job,
                           const FactRules& rules) {
  auto tree = reader.tree();
  const auto facts =
      tree ? facts::extract_facts_in(*tree, job, rules) : tl::unexpected(tree.error());
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
  const auto reader = tree::TreeReader::open(job.root, job.identity);
  if (!reader) return tl::unexpected(reader.error());
  const auto reply = tree::run_confined(reader->confinement(),
                                        [&] { return reply_of_child(*reader, job, rules); });
  if (!reply) return tl::unexpected(reply.error());
  if (reply->starts_with('!') && reply->size() > 1)
    return fail(static_cast<ErrorCode>((*reply)[1] - '0'), reply->substr(2));
  return read_facts_json(*reply);
}

}  // namespace schedmate
