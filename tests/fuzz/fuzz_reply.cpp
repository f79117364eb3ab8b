// SPDX-License-Identifier: Apache-2.0
#include "agent/evaluate.hpp"
#include "agent/reply.hpp"
#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/small_job.hpp"

namespace schedmate::fuzz {

/// A reply is an error with a sentence, or a turn whose claims are facts with a line or are dropped
/// with a reason.
void fuzz_reply(std::string_view input) {
  static testing::SmallJobTree job;
  static const agent::AgentTask task = job.task();
  static agent::Evaluator evaluator(task, agent::gaps_of(job.found(), 0));
  const auto turn = agent::read_turn(input);
  if (!turn) {
    SCHEDMATE_CHECK(!turn.error().message.empty(), "an error says what is wrong");
    return;
  }
  SCHEDMATE_CHECK(turn->answer.has_value() != turn->action.has_value(), "one of the two");
  if (!turn->answer) return;
  for (const agent::Claim& claim : *turn->answer) {
    const auto fact = evaluator.check(claim);
    if (fact) {
      SCHEDMATE_CHECK(fact->known() && fact->evidence.size() == 1, "a fact has its line");
    } else {
      SCHEDMATE_CHECK(!fact.error().empty(), "a dropped claim has its reason");
    }
  }
}

}  // namespace schedmate::fuzz
