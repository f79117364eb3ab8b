// SPDX-License-Identifier: Apache-2.0
/// The chain inside its confinement: what reads a stranger's tree has no rights to lose.
#include <functional>
#include <schedmate/facts.hpp>

#include "base/large_stack.hpp"
#include "core/facts_json.hpp"
#include "facts/extract.hpp"
#include "tree/reader.hpp"

namespace schedmate {
namespace {

/// Code that nests 20,000 deep is read on it, whatever stack the caller was given.
constexpr std::size_t stack_bytes = std::size_t{192} << 20U;

using Read = std::function<Result<Facts>(tree::Tree&, const facts::KeepFacts&)>;

/// What the child says: facts as JSON, or "!" with the number of the error code and the sentence.
std::string reply_of_child(const tree::TreeReader& reader, const Read& read,
                           const facts::KeepFacts& keep) {
  auto tree = reader.tree();
  const auto facts = tree ? read(*tree, keep) : tl::unexpected(tree.error());
  if (facts) return facts_json(*facts, FactsDetail::with_rejected);
  const char code = static_cast<char>('0' + static_cast<int>(facts.error().code));
  return std::string("!") + code + facts.error().message;
}

/// A child that crashes or is stopped has handed over what it had read before.
Result<Facts> read_confined(const JobSource& job, const Read& read) {
  const auto reader = tree::TreeReader::open(job.root, job.identity);
  if (!reader) return tl::unexpected(reader.error());
  std::string kept;
  const auto reply = tree::run_confined_asking(
      reader->confinement(),
      [&](const tree::Ask& ask) {
        const auto keep = [&](const Facts& facts) {
          (void)ask(facts_json(facts, FactsDetail::with_rejected));
        };
        std::string said;
        on_large_stack(stack_bytes, [&] { said = reply_of_child(*reader, read, keep); });
        return said;
      },
      [&](std::string so_far) {
        kept = std::move(so_far);
        return std::string();
      });
  if (!reply) {
    auto facts = kept.empty() ? tl::unexpected(reply.error()) : read_facts_json(kept);
    if (!facts) return tl::unexpected(reply.error());
    facts->expect = Outlook::unknown;
    facts->expect_reason = "reading the program was stopped";
    facts->degraded.push_back(
        reply.error().message +
        ": what was read until then is given, the rest of the program is not");
    return facts;
  }
  if (reply->starts_with('!') && reply->size() > 1)
    return fail(static_cast<ErrorCode>((*reply)[1] - '0'), reply->substr(2));
  return read_facts_json(*reply);
}

}  // namespace

Result<Facts> extract_facts(const JobSource& job) {
  const auto rules = load_fact_rules(job.rules);
  if (!rules) return tl::unexpected(rules.error());
  return extract_facts(job, **rules);
}

Result<Facts> extract_facts(const JobSource& job, const FactRules& rules) {
  return read_confined(job, [&](tree::Tree& tree, const facts::KeepFacts& keep) {
    return facts::extract_facts_in(tree, job, rules, keep);
  });
}

Result<Facts> extract_request(const JobSource& job) {
  return read_confined(job, [&](tree::Tree& tree, const facts::KeepFacts&) {
    return facts::extract_request_in(tree, job);
  });
}

}  // namespace schedmate
