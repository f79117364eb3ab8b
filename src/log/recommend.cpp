// SPDX-License-Identifier: Apache-2.0
#include "log/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace schedmate {
namespace {

/// What a scheduler's state says about a job.
struct StateMeaning {
  std::string_view state;
  FailureClass verdict;
  Component component;
  std::string_view reason;
  Recommendation recommendation;
};
constexpr std::array meanings = {
    StateMeaning{"NODE_FAIL", FailureClass::infrastructure, Component::node,
                 "the scheduler lost a node of the job", Recommendation::restart_elsewhere},
    StateMeaning{"BOOT_FAIL", FailureClass::infrastructure, Component::node,
                 "a node of the job did not come up", Recommendation::restart_elsewhere},
    StateMeaning{"TIMEOUT", FailureClass::other, Component::none,
                 "the scheduler ended the job at its time limit", Recommendation::do_not_restart},
    StateMeaning{"DEADLINE", FailureClass::other, Component::none,
                 "the scheduler ended the job at its deadline", Recommendation::do_not_restart},
    StateMeaning{"PREEMPTED", FailureClass::other, Component::none,
                 "the scheduler took the job's place for another one",
                 Recommendation::restart_same},
    StateMeaning{"CANCELLED", FailureClass::other, Component::none,
                 "the user or an administrator cancelled the job", Recommendation::do_not_restart},
    StateMeaning{"OUT_OF_MEMORY", FailureClass::user_script, Component::none,
                 "the job used more memory of the machine than its limit",
                 Recommendation::do_not_restart}};

const StateMeaning* meaning_of(const std::optional<JobContext>& job) {
  if (!job) return nullptr;
  // "CANCELLED by 1234"
  const auto state = std::string_view(job->state).substr(0, job->state.find_first_of(" +"));
  const auto held = std::ranges::find(meanings, state, &StateMeaning::state);
  return held == meanings.end() ? nullptr : &*held;
}

Witness scheduler_witness(const std::optional<JobContext>& job, const Diagnosis& made) {
  Witness witness{"scheduler", std::nullopt, "no --job file was given"};
  if (!job) return witness;
  witness.says = job->state.empty() ? "the job file has no state" : "state " + job->state;
  if (const StateMeaning* meaning = meaning_of(job))
    witness.agrees = meaning->verdict == made.verdict;
  return witness;
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool mentions(std::string_view line, std::string_view node) {
  for (auto at = line.find(node); at != std::string_view::npos; at = line.find(node, at + 1)) {
    const auto end = at + node.size();
    if ((at == 0 || !is_name(line[at - 1])) && (end == line.size() || !is_name(line[end])))
      return true;
  }
  return false;
}

/// Nodes of the allocation that the line is about: named in it, else that of its rank.
std::vector<std::string> nodes_of(const RecommendInput& input) {
  std::vector<std::string> nodes;
  for (const std::string& node : input.job->nodes)
    if (mentions(input.line, node)) nodes.push_back(node);
  const auto held = input.job->ranks.find(input.rank);
  if (nodes.empty() && held != input.job->ranks.end()) nodes.push_back(held->second);
  if (nodes.empty() && input.job->nodes.size() == 1) nodes = input.job->nodes;
  return nodes;
}

}  // namespace

void settle_recommendation(const RecommendInput& input, Diagnosis& made) {
  made.witnesses.insert(made.witnesses.begin(), scheduler_witness(input.job, made));
  const bool agreed = std::ranges::any_of(
      made.witnesses, [](const Witness& each) { return each.agrees.value_or(false); });
  if (made.verdict == FailureClass::infrastructure && agreed && input.job)
    made.nodes = nodes_of(input);
  if (made.recommendation == Recommendation::restart_elsewhere && !agreed) {
    made.recommendation = Recommendation::test_first;
    made.advice += "; without a second witness no machine is given up";
  }
}

void settle_without_line(const std::optional<JobContext>& job, Diagnosis& made) {
  made.recommendation = Recommendation::notify;
  const StateMeaning* meaning = meaning_of(job);
  if (meaning != nullptr) {
    made.verdict = meaning->verdict;
    made.component = meaning->component;
    made.reason = fmt::format("{} (its state; the log does not show it)", meaning->reason);
    made.recommendation = meaning->recommendation;
    made.confidence = 0.7;
  }
  made.witnesses.insert(made.witnesses.begin(), scheduler_witness(job, made));
  if (made.recommendation == Recommendation::restart_elsewhere && job->nodes.size() == 1)
    made.nodes = job->nodes;
}

}  // namespace schedmate
