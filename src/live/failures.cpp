// SPDX-License-Identifier: Apache-2.0
/// What the loop learns of jobs besides what the cluster shows (Lives), and what it proposes when
/// they fail.
#include <algorithm>
#include <iterator>

#include "live/loop.hpp"
#include "live/recovery.hpp"

namespace schedmate::live {

void Loop::take(const Studied& event, SimTime now) {
  const auto id = lives_.returned(event.study, event.finding, now);
  if (!id) return;
  keep_life(*id);
  effects_.emplace_back(Noted{Noted::What::job, *id, {}, Change::Kind::altered});
  if (event.finding && std::holds_alternative<CodeFound>(*event.finding)) take_advice(*id, now);
  if (event.finding && std::holds_alternative<LogFound>(*event.finding)) take_speed(*id);
  if (event.finding && std::holds_alternative<CauseFound>(*event.finding)) explain_loss(*id);
  respond_to_failures(now);
  respond_to_hangs(now);
}

void Loop::follow_lives(const std::vector<Change>& changes, SimTime now) {
  for (const Change& change : changes) {
    lives_.follow(change, now);
    if (change.kind == Change::Kind::ended || change.kind == Change::Kind::arrived)
      keep_life(change.attempt.seen.id);
  }
  if (!read_before_)
    for (const auto& [id, attempt] : jobs_.all()) lives_.resume(attempt, now);
  for (const std::string& id : jobs_.forgotten()) {
    if (!lives_.text(id).empty()) batch_.kept.push_back({Lives::key(id), ""});
    lives_.forget(id);
  }
}

void Loop::keep_life(const std::string& id) {
  std::string text = lives_.text(id);
  if (!text.empty()) batch_.kept.push_back({Lives::key(id), std::move(text)});
}

void Loop::study(SimTime now) {
  for (const std::string& id : lives_.give_up(now)) keep_life(id);
  for (Study& each : lives_.take(jobs_, now)) effects_.emplace_back(Examine{std::move(each)});
}

/// A job that waits is seen anew by its policy, with what is expected of it now.
void Loop::take_advice(const std::string& id, SimTime now) {
  const Attempt* const attempt = jobs_.find(id);
  if (attempt == nullptr || attempt->seen.phase != JobPhase::queued || attempt->seen.held ||
      actions_.start_of(id) != nullptr || actions_.settings().modes.order == Mode::observe)
    return;
  Pool* const pool = pool_of(attempt->seen);
  if (pool == nullptr || !pool->cluster.knows(attempt->number)) return;
  pool->cluster.withdraw(attempt->number, now);
  coming_.push_back(id);
}

/// How fast it is beside its fastest steps: what cancels a packing (paper 4.1).
void Loop::take_speed(const std::string& id) {
  const Attempt* const attempt = jobs_.find(id);
  const Life* const life = lives_.find(id);
  if (attempt == nullptr || life == nullptr || !life->log || !life->log->step_time_s ||
      !life->fastest_step_s || *life->log->step_time_s <= 0)
    return;
  if (Pool* const pool = pool_of(attempt->seen))
    pool->cluster.tell_speed(attempt->number, *life->fastest_step_s / *life->log->step_time_s);
}

/// In the batch that keeps the cause, so that it is told once.
void Loop::explain_loss(const std::string& id) {
  const Attempt* const attempt = jobs_.find(id);
  const Life* const life = lives_.find(id);
  if (attempt != nullptr && life != nullptr && attempt->number == life->attempt && life->cause &&
      life->cause->judged && attempt->seen.phase == JobPhase::ended)
    ledger_.explain(attempt->seen, life->cause->verdict);
}

/// A job that is not started again, since it failed like this before, and would have been else.
void Loop::count_avoided(const FailureCase& failure, const std::vector<PastRun>& past) {
  const auto before = failed_so_before(failure);
  const auto restarts = [](const Proposal& each) {
    return each.call.kind == ActionKind::requeue_excluding;
  };
  FailureCase alone = failure;
  alone.earlier = {};
  alone.may_wait = false;
  if (!before || actions_.mode_of(Area::recover) != Mode::act ||
      failure.job.restarts >= actions_.settings().caps.requeues_per_job ||
      std::ranges::none_of(respond_to(alone).proposals, restarts))
    return;
  const auto run = std::ranges::find(past, before->restarts, &PastRun::restarts);
  if (run == past.end() || !run->started || !run->ended || !failure.job.started ||
      !failure.job.ended)
    return;
  ledger_.note_avoided(failure.job, std::min(*run->ended - *run->started,
                                             *failure.job.ended - *failure.job.started));
}

const Prediction* Loop::advice_on(const std::string& id) const {
  const Life* const life = lives_.find(id);
  return life != nullptr && life->code && life->code->prediction ? &*life->code->prediction
                                                                 : nullptr;
}

/// Probes, and the cluster itself, which has lost a node of the job.
std::vector<NodeWitness> Loop::witnesses_of(const SeenJob& job, SimTime now) const {
  std::vector<NodeWitness> witnesses;
  for (const NodeGpus& each : job.nodes) {
    std::ranges::move(witnesses_.of(each.node, now - options_.settings.waits.witness_age),
                      std::back_inserter(witnesses));
    const auto node = actions_.nodes().find(each.node);
    if (node != actions_.nodes().end() && node->second.state == NodeState::down)
      witnesses.push_back({"scheduler", each.node, now, "it is down: " + node->second.reason});
  }
  return witnesses;
}

/// What two of them say of one node needs no job that fails first.
void Loop::take(const Witnessed& event, SimTime now) {
  const std::string node = event.witness.node;
  witnesses_.add(event.witness, now);
  respond_to_failures(now);
  std::vector<NodeWitness> witnesses =
      witnesses_.of(node, now - options_.settings.waits.witness_age);
  const bool agree = std::ranges::any_of(
      witnesses, [&](const NodeWitness& each) { return each.source != event.witness.source; });
  if (!agree) return;
  Proposal drain;
  drain.call = {.kind = ActionKind::drain_node, .nodes = {{node, {}}}, .text = event.witness.says};
  drain.why = {"rule witnesses_agree"};
  drain.witnesses = std::move(witnesses);
  (void)actions_.propose(std::move(drain), now);
}

void Loop::respond_to_failures(SimTime now) {
  const Modes& modes = actions_.settings().modes;
  for (const std::string& id : lives_.unhandled()) {
    const Attempt* const attempt = jobs_.find(id);
    const Life* const life = lives_.find(id);
    if (attempt == nullptr || life == nullptr || attempt->number != life->attempt || !life->cause ||
        attempt->seen.phase != JobPhase::ended || is_own_test(attempt->seen) ||
        (modes.recover == Mode::observe && modes.notify == Mode::observe)) {
      lives_.handled(id);
      keep_life(id);
      continue;
    }
    const SeenJob& job = attempt->seen;
    const std::vector<NodeWitness> witnesses = witnesses_of(job, now);
    const FailureCase failure{
        .job = job,
        .cause = *life->cause,
        .earlier = life->earlier,
        .witnesses = witnesses,
        .may_wait = now - job.ended.value_or(now) < options_.settings.waits.witness};
    Response response = respond_to(failure);
    if (response.waits) continue;
    count_avoided(failure, attempt->past);
    respond(std::move(response), now);
    lives_.handled(id);
    keep_life(id);
  }
}

/// Modes, caps and the breaker decide what comes of it; the owner is told what does.
void Loop::respond(Response response, SimTime now) {
  bool starts_again = true;
  for (Proposal& proposal : response.proposals) {
    const ActionKind kind = proposal.call.kind;
    if (kind == ActionKind::notify && !starts_again) proposal.call.text = response.text_otherwise;
    const auto action = actions_.propose(std::move(proposal), now);
    if (kind == ActionKind::requeue_excluding)
      starts_again = action && actions_.is_to_be_called(*action);
  }
}

void Loop::respond_to_hangs(SimTime now) {
  const Modes& modes = actions_.settings().modes;
  if (modes.recover == Mode::observe && modes.notify == Mode::observe) return;
  for (const std::string& id : lives_.hanging()) {
    const Attempt* const attempt = jobs_.find(id);
    const Life* const life = lives_.find(id);
    if (attempt == nullptr || attempt->number != life->attempt ||
        attempt->seen.phase != JobPhase::running)
      continue;
    HangCase hung{attempt->seen, *life->hang, options_.settings.waits.hung_restart};
    const std::vector<Proposal> proposals = respond_to_hang(hung, now);
    if (proposals.empty()) continue;
    for (const Proposal& each : proposals) (void)actions_.propose(each, now);
    lives_.note_hang(id, hung.hang);
    keep_life(id);
  }
}

}  // namespace schedmate::live
