// SPDX-License-Identifier: Apache-2.0

/// The state that the scheduler gave the job.

#include <algorithm>
#include <array>

#include "log/witness/witness.hpp"

namespace schedmate::witness {
namespace {

/// What a scheduler's state says about a job.
struct StateMeaning {
  std::string_view state;
  FailureClass verdict;
  std::string_view reason;
  Recommendation recommendation;
};
constexpr std::array meanings = {
    StateMeaning{"NODE_FAIL", FailureClass::infrastructure, "the scheduler lost a node of the job",
                 Recommendation::restart_elsewhere},
    StateMeaning{"BOOT_FAIL", FailureClass::infrastructure, "a node of the job did not come up",
                 Recommendation::restart_elsewhere},
    StateMeaning{"TIMEOUT", FailureClass::other, "the scheduler ended the job at its time limit",
                 Recommendation::do_not_restart},
    StateMeaning{"DEADLINE", FailureClass::other, "the scheduler ended the job at its deadline",
                 Recommendation::do_not_restart},
    StateMeaning{"PREEMPTED", FailureClass::other,
                 "the scheduler preempted the job for another one", Recommendation::restart_same},
    StateMeaning{"CANCELLED", FailureClass::other, "the user or an administrator cancelled the job",
                 Recommendation::do_not_restart},
    StateMeaning{"OUT_OF_MEMORY", FailureClass::user_script,
                 "the job used more host memory than its limit", Recommendation::do_not_restart}};

}  // namespace

Result<WitnessReport> consult_scheduler(const WitnessCase& what) {
  WitnessReport made;
  made.says = "no --job file was given";
  if (!what.job) return made;
  made.says = what.job->state.empty() ? "the job file has no state" : "state " + what.job->state;
  made.asked = !what.job->state.empty();
  // "CANCELLED by 1234"
  const auto state =
      std::string_view(what.job->state).substr(0, what.job->state.find_first_of(" +"));
  const auto* const held = std::ranges::find(meanings, state, &StateMeaning::state);
  if (held == meanings.end()) return made;
  constexpr double confidence = 0.7;
  const bool fault = held->verdict == FailureClass::infrastructure;
  WitnessFinding finding;
  finding.means = {.rule = "state " + std::string(state),
                   .verdict = held->verdict,
                   .component = fault ? Component::node : Component::none,
                   .reason = std::string(held->reason),
                   .advice = fault ? "check the node before it gets jobs again" : "",
                   .recommendation = held->recommendation,
                   .confidence = confidence};
  finding.any_component = true;
  finding.explains = true;
  made.findings.push_back(std::move(finding));
  return made;
}

}  // namespace schedmate::witness
