// SPDX-License-Identifier: Apache-2.0
#include "live/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "core/step_ends.hpp"

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
std::vector<NodeGpus> doubted(const FailureCase& failure) {
  std::vector<NodeGpus> nodes;
  for (const NodeGpus& each : failure.job.nodes)
    if (log_agrees(failure, each.node) &&
        std::ranges::find(failure.witnesses, each.node, &NodeWitness::node) !=
            failure.witnesses.end())
      nodes.push_back({each.node, {}});
  return nodes;
}

/// Those of them for which the log is enough as a second witness.
std::vector<NodeGpus> suspects(const FailureCase& failure) {
  std::vector<NodeGpus> nodes = doubted(failure);
  std::erase_if(nodes, [&](const NodeGpus& each) {
    std::vector<NodeWitness> both{{"log", each.node, {}, {}}};
    std::ranges::copy(failure.witnesses, std::back_inserter(both));
    return !are_two(both, each.node);
  });
  return nodes;
}

/// The step that was killed, and whose end may have been that of its script. Of several tasks Slurm
/// tells the highest: where srun ends the others of one that was killed, that is 15. Steps that
/// still run when their script ends are killed, too; one that was killed long before did not end
/// it.
bool was_killed_in_a_step(const FailureCase& failure) {
  constexpr Seconds at_once{60};
  const SeenStep* const step = failed_step(failure.cause.steps);
  const auto& ended = failure.job.ended;
  return step != nullptr && (step->exit_signal == 9 || step->exit_signal == 15) && ended &&
         *step->ended <= *ended && *ended - *step->ended <= at_once;
}

bool script_was_killed(const SeenJob& job) {
  constexpr std::int32_t of_shell = 128 + 9;
  return job.exit_signal == 9 || (job.exit_signal == 0 && job.exit_code == of_shell);
}

/// Its processes were killed, and neither its log nor the cluster says by whom. They may have died
/// with their node before anybody could tell; programs that kill themselves look alike.
bool was_killed(const FailureCase& failure) {
  const SeenJob& job = failure.job;
  const bool by_signal = script_was_killed(job) || was_killed_in_a_step(failure);
  const bool unexplained = !failure.cause.judged || failure.cause.verdict == FailureClass::none ||
                           failure.cause.verdict == FailureClass::other;
  return job.end_state == EndState::failed && by_signal && unexplained;
}

/// Nodes of the job, or of the step that was killed, of which anybody says anything bad.
std::vector<NodeGpus> witnessed(const FailureCase& failure) {
  const SeenStep* const step =
      script_was_killed(failure.job) ? nullptr : failed_step(failure.cause.steps);
  std::vector<NodeGpus> nodes;
  for (const NodeGpus& each : failure.job.nodes) {
    const bool had_it = step == nullptr || step->nodes.empty() ||
                        std::ranges::find(step->nodes, each.node) != step->nodes.end();
    if (had_it && std::ranges::find(failure.witnesses, each.node, &NodeWitness::node) !=
                      failure.witnesses.end())
      nodes.push_back({each.node, {}});
  }
  return nodes;
}
bool was_killed_beside(const FailureCase& failure) {
  return was_killed(failure) && !witnessed(failure).empty();
}

bool has_failed_so(const FailureCase& failure) { return failed_so_before(failure).has_value(); }
bool was_lost_with_its_node(const FailureCase& failure) {
  return failure.job.end_state == EndState::node_fail;
}
bool is_witnessed(const FailureCase& failure) { return !suspects(failure).empty(); }
bool is_doubted(const FailureCase& failure) { return !doubted(failure).empty(); }
bool is_of_machine(const FailureCase& failure) { return blames_machine(failure.cause); }
bool may_pass(const FailureCase& failure) {
  return failure.cause.judged && failure.cause.verdict == FailureClass::infrastructure &&
         (failure.cause.recommendation == Recommendation::restart_same ||
          failure.cause.recommendation == Recommendation::restart_elsewhere);
}
bool ended_well(const FailureCase& failure) { return failure.job.end_state == EndState::completed; }
bool always(const FailureCase& /*failure*/) { return true; }

/// Of a job that ended well: whatever ran on the node that was lost may not have. So may what
/// nobody knows.
bool lost_a_step(const FailureCase& failure) {
  const auto& steps = failure.cause.steps;
  return std::ranges::none_of(steps, is_of_script) ||
         std::ranges::any_of(steps, [](const SeenStep& each) {
           return is_of_script(each) && each.end_state != EndState::completed;
         });
}
/// All that it did was done before, whatever its log and others say of its nodes.
bool was_done(const FailureCase& failure) { return ended_well(failure) && !lost_a_step(failure); }

enum class Restart : std::uint8_t { no, anywhere, elsewhere };

struct Rule {
  RecoveryRule row;
  bool (*applies)(const FailureCase&);
  bool drains = false, tests = false;
  Restart restart = Restart::no;
  std::string_view told{};  ///< to the owner
};

constexpr std::string_view lost_at_its_end = "lost_at_its_end";

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
    {{lost_at_its_end,
      "its script ended well, and the cluster lost a node of it then: its owner is told, unless "
      "all its steps ended well"},
     ended_well,
     false,
     false,
     Restart::no,
     "its script ended well, but a node of it was lost before it was clear: see whether its "
     "results are whole"},
    {{"killed_witnessed",
      "killed without a word, on a node of which a witness speaks badly: it is started again on "
      "others"},
     was_killed_beside,
     false,
     false,
     Restart::elsewhere,
     "its processes were killed while a node was bad; it is started again on others"},
    {{"machine_doubted",
      "the log speaks against a node, and an error that may have done no harm: the node is tested "
      "and the job started again on others"},
     is_doubted,
     false,
     true,
     Restart::elsewhere,
     "a node may be bad, and is tested; it is started again on others"},
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

/// Of the nodes of which others speak badly, too; where there are none, of all that the log means.
Proposal test_for(const FailureCase& failure, const std::vector<NodeGpus>& doubted) {
  Proposal test;
  test.call = {.kind = ActionKind::test_nodes, .nodes = doubted};
  const auto is_tested = [&](const std::string& node) {
    return std::ranges::find(test.call.nodes, node, &NodeGpus::node) != test.call.nodes.end();
  };
  for (const NodeGpus& node : failure.job.nodes)
    if (doubted.empty() && log_agrees(failure, node.node))
      test.call.nodes.push_back({node.node, {}});
  std::ranges::copy_if(failure.witnesses, std::back_inserter(test.witnesses), is_tested,
                       &NodeWitness::node);
  return test;
}

std::string words(const FailureCase& failure, std::string_view told) {
  const SeenJob& job = failure.job;
  const CauseFound& cause = failure.cause;
  std::string text =
      fmt::format("Job {} ({}) ended as {}.", job.id, job.name, to_string(job.end_state));
  if (!cause.reason.empty()) text += fmt::format(" {}: {}.", name_of(cause.verdict), cause.reason);
  if (const SeenStep* const step = failed_step(cause.steps))
    text += fmt::format(" Its {}.", step_words(*step));
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
  if (was_done(failure)) return {.rule = lost_at_its_end};
  const Rule& rule =
      *std::ranges::find_if(rules, [&](const Rule& each) { return each.applies(failure); });
  Response response{.rule = rule.row.name};
  const bool may_come = rule.tests || (was_killed(failure) && witnessed(failure).empty());
  if (may_come && failure.may_wait) {
    response.waits = true;
    return response;
  }
  const CauseFound& cause = failure.cause;
  const SeenStep* const step = failed_step(cause.steps);
  std::vector<NodeWitness> witnesses(failure.witnesses.begin(), failure.witnesses.end());
  const bool killed = was_killed_beside(failure);
  const std::vector<NodeGpus> bad = killed       ? witnessed(failure)
                                    : rule.tests ? doubted(failure)
                                                 : suspects(failure);
  for (const NodeGpus& node : bad)
    witnesses.push_back(
        {killed ? "end" : "log", node.node, failure.job.ended.value_or(SimTime()),
         killed ? "its processes were killed there, and its log does not say why" : cause.reason});
  const auto add = [&](Proposal proposal) {
    proposal.why.push_back(fmt::format("rule {}: job {} ended as {}", rule.row.name, failure.job.id,
                                       to_string(failure.job.end_state)));
    if (!cause.reason.empty()) proposal.why.push_back(cause.reason);
    if (step != nullptr) proposal.why.push_back(step_words(*step));
    response.proposals.push_back(std::move(proposal));
  };
  if (rule.drains)
    for (const NodeGpus& node : bad) {
      Proposal drain;
      drain.call = {.kind = ActionKind::drain_node, .nodes = {node}, .text = cause.reason};
      drain.witnesses = witnesses;
      add(std::move(drain));
    }
  if (rule.tests)
    if (Proposal test = test_for(failure, bad); !test.call.nodes.empty()) add(std::move(test));
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
  const auto& [job, hang, restart_after, idle, hung_before] = hung;
  std::vector<Proposal> proposals;
  const bool restarts = restart_after > Seconds(0) && !hang.restarted && !hung.hung_before &&
                        !(hung.idle && !*hung.idle) && now - hang.since >= restart_after;
  const std::string why =
      fmt::format("rule hung: no step of job {} for ten times as long as usual", job.id);
  if (!hang.told) {
    Proposal tell = of_job(job, ActionKind::notify);
    tell.call.user = job.user;
    tell.call.text = fmt::format(
        "Job {} ({}) makes no progress any more: its log shows no step for ten times as long as "
        "usual, and it still holds its GPUs{}. SchedMate: {}.",
        job.id, job.name, idle && *idle ? ", which are idle" : "",
        hung_before                  ? "it hung before, and is not restarted again"
        : restart_after > Seconds(0) ? "it is restarted if that lasts"
                                     : "nothing is done about it");
    tell.why = {why};
    proposals.push_back(std::move(tell));
    hung.hang.told = true;
  }
  if (restarts) {
    Proposal again = of_job(job, ActionKind::requeue_excluding);
    again.owner = job.user;
    again.why = {why};
    if (idle && *idle) again.why.emplace_back("gpu: its GPUs are idle");
    proposals.push_back(std::move(again));
    hung.hang.restarted = true;
  }
  return proposals;
}

}  // namespace schedmate::live
