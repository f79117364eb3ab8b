// SPDX-License-Identifier: Apache-2.0
/// What the loop learns of jobs besides what the cluster shows (Lives), and what it proposes when
/// they fail.
#include <fmt/format.h>

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
  if (event.finding && std::holds_alternative<LogFound>(*event.finding)) take_speed(*id, now);
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
    lives_.forget(id);
    keep_life(id);
  }
}

void Loop::keep_life(const std::string& id) {
  if (auto text = lives_.row(id)) batch_.kept.push_back({Lives::key(id), *std::move(text)});
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
void Loop::take_speed(const std::string& id, SimTime now) {
  const Attempt* const attempt = jobs_.find(id);
  const Life* const life = lives_.find(id);
  if (attempt == nullptr || life == nullptr || !life->log || !life->fastest_step_s) return;
  const auto step_s = life->log->step_s_now();
  Pool* const pool = pool_of(attempt->seen);
  if (step_s && pool != nullptr)
    pool->cluster.tell_speed(attempt->number, *life->fastest_step_s / *step_s, now);
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

/// Probes, the cluster itself, which has lost a node of the job, and the site's own checks.
std::vector<NodeWitness> Loop::witnesses_of(const SeenJob& job, SimTime now) const {
  std::vector<NodeWitness> witnesses;
  for (const NodeGpus& each : job.nodes) {
    std::ranges::move(witnesses_.of(each.node, now - options_.settings.waits.witness_age),
                      std::back_inserter(witnesses));
    const auto node = actions_.nodes().find(each.node);
    if (node != actions_.nodes().end() && node->second.state == NodeState::down)
      witnesses.push_back({"scheduler", each.node, now,
                           fmt::format("it is down: {}", told_to_all(node->second.reason))});
    else if (node != actions_.nodes().end() && node->second.failed_check)
      witnesses.push_back({"site", each.node, now, node->second.reason});
  }
  return witnesses;
}

/// What two of them say of one node needs no job that fails first.
void Loop::take(const Witnessed& event, SimTime now) {
  const std::string node = event.witness.node;
  if (!care_.counts(event.witness)) return;
  witnesses_.add(event.witness, now);
  respond_to_failures(now);
  if (drain_if_agreed(node, now))
    care_.settle(node);
  else
    care_.suspect(event.witness);
}

/// Whether two witnesses besides any log speak against it.
bool Loop::drain_if_agreed(const std::string& node, SimTime now) {
  std::vector<NodeWitness> witnesses =
      witnesses_.of(node, now - options_.settings.waits.witness_age);
  if (!are_two(witnesses, node)) return false;
  Proposal drain;
  drain.call = {
      .kind = ActionKind::drain_node, .nodes = {{node, {}}}, .text = witnesses.back().says};
  drain.why = {"rule witnesses_agree"};
  drain.witnesses = std::move(witnesses);
  (void)actions_.propose(std::move(drain), now);
  return true;
}

/// Drains that the controller has forgotten are planned anew, while what was said still counts.
void Loop::replace_forgotten(SimTime now) {
  for (const Action& drain : actions_.take_forgotten()) {
    Proposal again;
    again.call = drain.call;
    again.call.text =
        drain.call.text.substr(std::min(drain.call.text.find(' '), drain.call.text.size()));
    again.call.text.erase(0, 1);
    again.witnesses = told_before(drain, drain.call.nodes.front().node);
    again.why = {fmt::format("the cluster was restarted and has forgotten action {}", drain.id)};
    (void)actions_.propose(std::move(again), now);
  }
}

/// Jobs and nodes may come in readings of their own, one after the other; some may be asked for at
/// once, some seldom.
void Loop::doubt_good_ends(const std::vector<Change>& changes, const Listing& listing,
                           SimTime now) {
  if (!options_.ends_when_clear) return;
  constexpr std::uint64_t readings = 5;
  constexpr Seconds together{2};
  std::erase_if(good_ends_, [&](const auto& each) {
    return counts_.readings - each.second.reading > readings && now - each.second.when > together;
  });
  for (const Change& change : changes)
    if (change.kind == Change::Kind::ended && change.attempt.seen.phase == JobPhase::ended &&
        change.attempt.seen.end_state == EndState::completed && change.attempt.number != 0)
      good_ends_[change.attempt.seen.id] = {counts_.readings, now};
  std::set<std::string_view> down;
  for (const SeenNode& node : listing.nodes)
    if (node.state == NodeState::down) down.insert(node.name);
  std::erase_if(good_ends_, [&](const auto& each) {
    const Attempt* const attempt = jobs_.find(each.first);
    if (attempt == nullptr) return true;
    const bool lost = std::ranges::any_of(
        attempt->seen.nodes, [&](const NodeGpus& node) { return down.contains(node.node); });
    if (lost) lives_.doubt(*attempt, now);
    if (lost) keep_life(each.first);
    return lost;
  });
}

namespace {

/// From when on there is time for witnesses: since its end, or since that was shown, where that was
/// so late that no time would be left.
SimTime known_since(const Life& life, SimTime ended, Seconds late) {
  const SimTime shown = life.end_shown.value_or(ended);
  return shown - ended > late ? shown : ended;
}

}  // namespace

void Loop::respond_to_failures(SimTime now) {
  const Modes& modes = actions_.settings().modes;
  for (const std::string& id : lives_.unhandled()) {
    const Attempt* const attempt = jobs_.find(id);
    const Life* const life = lives_.find(id);
    if (attempt == nullptr || life == nullptr || attempt->number != life->attempt || !life->cause ||
        attempt->seen.phase != JobPhase::ended || is_own_test(attempt->seen) ||
        (attempt->seen.ended && attempt->seen.ended < began_) ||  // nobody knows what was done then
        (modes.recover == Mode::observe && modes.notify == Mode::observe)) {
      lives_.handled(id);
      keep_life(id);
      continue;
    }
    const SeenJob& job = attempt->seen;
    const std::vector<NodeWitness> witnesses = witnesses_of(job, now);
    const Seconds wait = options_.settings.waits.witness;
    // Restarts that a controller has forgotten did not happen.
    std::vector<EarlierFailure> earlier = life->earlier;
    const auto forgotten = std::erase_if(
        earlier, [&](const EarlierFailure& each) { return each.restarts >= job.restarts; });
    const FailureCase failure{
        .job = job,
        .cause = *life->cause,
        .earlier = earlier,
        .witnesses = witnesses,
        .may_wait = now - known_since(*life, job.ended.value_or(now), wait / 2) < wait};
    Response response = respond_to(failure);
    if (response.waits) continue;
    if (forgotten > 0)
      for (Proposal& each : response.proposals)
        each.why.emplace_back("the cluster has forgotten that it was started again");
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
    HangCase hung{attempt->seen, *life->hang, options_.settings.waits.hung_restart,
                  options_.is_idle ? options_.is_idle(attempt->seen) : std::nullopt,
                  std::ranges::find(life->earlier, Lives::hung, &EarlierFailure::fingerprint) !=
                      life->earlier.end()};
    const std::vector<Proposal> proposals = respond_to_hang(hung, now);
    if (proposals.empty()) continue;
    for (const Proposal& each : proposals) (void)actions_.propose(each, now);
    lives_.note_hang(id, hung.hang);
    keep_life(id);
  }
}

}  // namespace schedmate::live
