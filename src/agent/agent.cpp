// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/evaluate.hpp"
#include "agent/fields.hpp"
#include "agent/loop.hpp"
#include "agent/prompt.hpp"
#include "base/random.hpp"

namespace schedmate::agent {
namespace {

class Filling {
 public:
  Filling(const AgentTask& task, std::vector<std::string> gaps) : evaluator_(task, gaps) {
    outcome_.asked = std::move(gaps);
    outcome_.prompt_version = prompt_version();
  }

  void add(Sample sample) {
    outcome_.tool_calls += sample.tool_calls;
    outcome_.requests += sample.requests;
    outcome_.tokens += sample.tokens;
    if (!sample.answer) {
      outcome_.notes.push_back(sample.error.message);
      last_error_ = std::move(sample.error);
      return;
    }
    ++outcome_.samples;
    std::ranges::move(sample.unreadable, std::back_inserter(outcome_.dropped));
    for (const Claim& claim : *sample.answer) {
      auto fact = evaluator_.check(claim);
      if (fact) {
        checked_.push_back({claim, *std::move(fact)});
      } else {
        outcome_.dropped.push_back({claim, fact.error()});
      }
    }
  }

  Result<AgentOutcome> finish() {
    if (outcome_.samples == 0) return tl::unexpected(last_error_);
    VoteOutcome verdict = vote(checked_, outcome_.samples);
    outcome_.facts = std::move(verdict.facts);
    outcome_.extra = std::move(verdict.extra);
    std::ranges::move(verdict.dropped, std::back_inserter(outcome_.dropped));
    outcome_.accepted = static_cast<int>(outcome_.facts.size() + outcome_.extra.size());
    return std::move(outcome_);
  }

 private:
  Evaluator evaluator_;
  AgentOutcome outcome_;
  std::vector<CheckedClaim> checked_;
  Error last_error_{ErrorCode::unavailable, "no model"};
};

}  // namespace

std::vector<std::string> gaps_of(const Facts& found, double doubtful_below) {
  std::vector<std::string> gaps;
  for (const Field& field : agent_fields()) {
    const bool trains = found.expect != Outlook::evaluation_only;
    if (!trains &&
        (field.name == "length" || field.name == "optimizer" || field.name == "learning_rate")) {
      continue;
    }
    const auto fact = found.facts.find(field.name);
    const bool resolved = fact != found.facts.end() &&
                          (fact->second.known() ? fact->second.confidence >= doubtful_below
                                                : fact->second.confidence > 0);
    if (!resolved) gaps.emplace_back(field.name);
  }
  return gaps;
}

Result<AgentOutcome> fill_gaps(const AgentTask& task, const AgentSettings& settings,
                               std::span<const Chat> models, const Clock& clock) {
  std::vector<std::string> gaps = gaps_of(task.found, settings.doubtful_below);
  if (gaps.empty()) return AgentOutcome{};
  Filling filling(task, gaps);
  const auto end = clock.now() + settings.deadline;
  for (int round = 0; round < std::max(settings.samples, 1); ++round) {
    for (const Chat& chat : models) {
      const std::uint64_t seed =
          round == 0 ? 0 : mix(settings.seed + static_cast<std::uint64_t>(round)) >> 33U;
      const SampleSpec spec{.task = task,
                            .settings = settings,
                            .gaps = gaps,
                            .clock = clock,
                            .end = end,
                            .seed = seed};
      filling.add(run_sample(spec, chat));
    }
  }
  return filling.finish();
}

std::string describe(const AgentOutcome& outcome) {
  std::map<std::string, int> reasons;
  for (const DroppedClaim& one : outcome.dropped) ++reasons[one.why];
  std::string out = fmt::format(
      "model: {} gaps, {} requests, {} tool calls, {} tokens, {} accepted, {} dropped\n",
      outcome.asked.size(), outcome.requests, outcome.tool_calls, outcome.tokens, outcome.accepted,
      outcome.dropped.size());
  for (const auto& [why, count] : reasons) out += fmt::format("  dropped {}: {}\n", count, why);
  for (const std::string& note : outcome.notes) out += fmt::format("  no answer: {}\n", note);
  return out;
}

}  // namespace schedmate::agent
