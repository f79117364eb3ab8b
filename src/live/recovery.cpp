// SPDX-License-Identifier: Apache-2.0
#include "live/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace schedmate::live {
namespace {

/// A fault of the machine, not of what runs on it.
bool blames_machine(const CauseFound& cause) {
  return cause.judged && cause.verdict == FailureClass::infrastructure &&
         (cause.component == Component::gpu || cause.component == Component::nvlink ||
          cause.component == Component::network || cause.component == Component::node);
}

/// The log says that this node may be it: it names it, or none.
bool log_agrees(const FailureCase& failure, const std::string& node) {
  const auto& blamed = failure.cause.blamed;
  return blames_machine(failure.cause) &&
         (blamed.empty() || std::ranges::find(blamed, node) != blamed.end());
}

/// Nodes of the job of which somebody besides its log says that they are bad.
std::vector<NodeGpus> suspects(const FailureCase& failure) {
  std::vector<NodeGpus> nodes;
  for (const NodeGpus& each : failure.job.nodes)
    if (log_agrees(failure, each.node) &&
        std::ranges::any_of(failure.witnesses,
                            [&](const NodeWitness& witness) { return witness.node == each.node; }))
      nodes.push_back({each.node, {}});
  return nodes;
}

bool has_failed_so(const FailureCase& failure) { return failed_so_before(failure).has_value(); }
bool was_lost_with_its_node(const FailureCase& failure) {
  return failure.job.end_state == EndState::node_fail;
}
bool is_witnessed(const FailureCase& failure) { return !suspects(failure).empty(); }
bool is_of_machine(const FailureCase& failure) { return blames_machine(failure.cause); }
bool may_pass(const FailureCase& failure) {
  return failure.cause.judged && failure.cause.verdict == FailureClass::infrastructure &&
         (failure.cause.recommendation == Recommendation::restart_same ||
          failure.cause.recommendation == Recommendation::restart_elsewhere);
}
bool always(const FailureCase& /*failure*/) { return true; }

enum class Restart : std::uint8_t { no, anywhere, elsewhere };

struct Rule {
  RecoveryRule row;
  bool (*applies)(const FailureCase&);
  bool drains = false, tests = false;
  Restart restart = Restart::no;
  std::string_view told{};  ///< to the owner
};

constexpr Rule rules[] = {
    {{"repeated", "the same cause at the same step as an earlier attempt: it is not started again"},
     has_failed_so,
     false,
     false,
     Restart::no,
     "it failed like this before, at the same step, and is not started again"},
    {{"node_lost", "the cluster lost its node: it is started again, on nodes that are there"},
     was_lost_with_its_node,
     false,
     false,
     Restart::anywhere,
     "its node was lost; it is started again"},
    {{"machine_witnessed",
      "the log and another witness say that a node is bad: the node is drained "
      "and the job started again on others"},
     is_witnessed,
     true,
     false,
     Restart::elsewhere,
     "a node was bad; it is started again on others"},
    {{"machine_unwitnessed",
      "only the log says so: the nodes that it may mean are tested and the job is "
      "started again, wherever there is room"},
     is_of_machine,
     false,
     true,
     Restart::anywhere,
     "a node may be bad, and is tested; it is started again"},
    {{"passing", "a fault of the infrastructure that may pass: it is started again"},
     may_pass,
     false,
     false,
     Restart::anywhere,
     "the fault may have passed; it is started again"},
    {{"owner", "everything else is for the owner, who is told"}, always},
};

Proposal of_job(const SeenJob& job, ActionKind kind) {
  Proposal made;
  made.call = {.kind = kind, .job = job.id, .submitted = job.submitted, .restarts = job.restarts};
  return made;
}

std::string words(const FailureCase& failure, std::string_view told) {
  const SeenJob& job = failure.job;
  const CauseFound& cause = failure.cause;
  std::string text =
      fmt::format("Job {} ({}) ended as {}.", job.id, job.name, to_string(job.end_state));
  if (!cause.reason.empty()) text += fmt::format(" {}: {}.", name_of(cause.verdict), cause.reason);
  if (!told.empty()) text += fmt::format(" SchedMate: {}.", told);
  if (!cause.advice.empty()) text += fmt::format(" {}", cause.advice);
  constexpr std::size_t longest = 1000;
  if (text.size() > longest) text.resize(longest);
  return text;
}

}  // namespace

std::optional<EarlierFailure> failed_so_before(const FailureCase& failure) {
  const CauseFound& cause = failure.cause;
  const auto found = std::ranges::find_if(failure.earlier, [&](const EarlierFailure& earlier) {
    return earlier.fingerprint == cause.fingerprint && earlier.step == cause.step;
  });
  return cause.fingerprint.empty() || found == failure.earlier.end() ? std::nullopt
                                                                     : std::optional(*found);
}

std::vector<RecoveryRule> recovery_rules() {
  std::vector<RecoveryRule> rows;
  for (const Rule& rule : rules) rows.push_back(rule.row);
  return rows;
}

Response respond_to(const FailureCase& failure) {
  const Rule& rule =
      *std::ranges::find_if(rules, [&](const Rule& each) { return each.applies(failure); });
  Response response{.rule = rule.row.name};
  if (rule.tests && failure.may_wait) {
    response.waits = true;
    return response;
  }
  const CauseFound& cause = failure.cause;
  std::vector<NodeWitness> witnesses(failure.witnesses.begin(), failure.witnesses.end());
  const std::vector<NodeGpus> bad = suspects(failure);
  for (const NodeGpus& node : bad)
    witnesses.push_back({"log", node.node, failure.job.ended.value_or(SimTime()), cause.reason});
  const auto add = [&](Proposal proposal) {
    proposal.why.push_back(fmt::format("rule {}: job {} ended as {}", rule.row.name, failure.job.id,
                                       to_string(failure.job.end_state)));
    if (!cause.reason.empty()) proposal.why.push_back(cause.reason);
    response.proposals.push_back(std::move(proposal));
  };
  if (rule.drains)
    for (const NodeGpus& node : bad) {
      Proposal drain;
      drain.call = {.kind = ActionKind::drain_node, .nodes = {node}, .text = cause.reason};
      drain.witnesses = witnesses;
      add(std::move(drain));
    }
  if (rule.tests) {
    Proposal test;
    test.call.kind = ActionKind::test_nodes;
    for (const NodeGpus& node : failure.job.nodes)
      if (log_agrees(failure, node.node)) test.call.nodes.push_back({node.node, {}});
    if (!test.call.nodes.empty()) add(std::move(test));
  }
  if (rule.restart != Restart::no) {
    Proposal again = of_job(failure.job, ActionKind::requeue_excluding);
    again.owner = failure.job.user;
    if (rule.restart == Restart::elsewhere) {
      again.call.nodes = bad;
      again.witnesses = witnesses;
    }
    add(std::move(again));
  }
  Proposal tell = of_job(failure.job, ActionKind::notify);
  tell.call.user = failure.job.user;
  tell.call.text = words(failure, rule.told);
  response.text_otherwise =
      rule.restart == Restart::no
          ? tell.call.text
          : words(failure, "it is not started again by itself; that is for you or an operator");
  add(std::move(tell));
  return response;
}

std::vector<Proposal> respond_to_hang(HangCase& hung, SimTime now) {
  const auto& [job, hang, restart_after] = hung;
  std::vector<Proposal> proposals;
  const bool restarts =
      restart_after > Seconds(0) && !hang.restarted && now - hang.since >= restart_after;
  const std::string why =
      fmt::format("rule hung: no step of job {} for ten times as long as usual", job.id);
  if (!hang.told) {
    Proposal tell = of_job(job, ActionKind::notify);
    tell.call.user = job.user;
    tell.call.text = fmt::format(
        "Job {} ({}) makes no progress any more: its log shows no step for ten times as long as "
        "usual, and it still holds its GPUs. SchedMate: {}.",
        job.id, job.name,
        restart_after > Seconds(0) ? "it is restarted if that lasts" : "nothing is done about it");
    tell.why = {why};
    proposals.push_back(std::move(tell));
    hung.hang.told = true;
  }
  if (restarts) {
    Proposal again = of_job(job, ActionKind::requeue_excluding);
    again.owner = job.user;
    again.why = {why};
    proposals.push_back(std::move(again));
    hung.hang.restarted = true;
  }
  return proposals;
}

}  // namespace schedmate::live
