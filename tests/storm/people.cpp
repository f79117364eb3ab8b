// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/people.hpp"

#include <algorithm>

namespace schedmate::storm {

using enum Fault;

void People::act() {
  world();
  at_nodes();
  at_jobs();
  operators();
  proposers();
}

void People::submit_jobs() {
  const auto& nodes = town_.cluster.nodes();
  const double often = std::min(0.3, 0.03 * static_cast<double>(nodes.size()));
  if (users_.uniform() >= often) return;
  const auto node = static_cast<std::size_t>(users_.below(std::ssize(nodes)));
  const auto most = std::ssize(nodes[node].holders);
  constexpr std::int64_t shortest = 10, longest = 400;
  ModelCluster::NewJob job{.partition = nodes[node].partition,
                           .user = fmt::format("user{}", users_.below(3)),
                           .gpus = static_cast<std::int32_t>(users_.between(1, most)),
                           .runs = Seconds(users_.between(shortest, longest))};
  // Some want several nodes.
  constexpr std::int64_t few = 4;
  const auto there = std::ranges::count(nodes, job.partition, &ModelCluster::Node::partition);
  const auto wide = std::min(few, there * 2 / 3);
  if (users_.below(few) == 0 && wide > 1)
    job.gpus = static_cast<std::int32_t>(most * users_.between(2, wide));
  constexpr double mostly = 0.6;
  if (town_.dice.strikes(jobs_fail, mostly)) job.will_end = EndState::failed;
  if (town_.dice.strikes(job_hangs, 1)) job.runs = Seconds(2 * longest);
  job.reuses_id = town_.dice.strikes(ids_reused, 1);
  town_.cluster.submit(job);
}

void People::world() {
  Timeline& timeline = town_.timeline;
  auto& nodes = town_.cluster.nodes();
  const auto some = [&](Fault fault) -> std::size_t {
    return static_cast<std::size_t>(town_.dice.of(fault).below(std::ssize(nodes)));
  };
  const auto die = [&](std::size_t index, Millis after, Millis away) {
    timeline.in(after,
                [this, index] { town_.cluster.set_dead(town_.cluster.nodes()[index], true); });
    timeline.in(after + away,
                [this, index] { town_.cluster.set_dead(town_.cluster.nodes()[index], false); });
  };
  if (town_.dice.strikes(node_dies, 0.03))
    die(some(node_dies), 0, town_.dice.of(node_dies).between(20'000, 400'000));
  if (town_.dice.strikes(node_flaps, 0.02)) {
    const std::size_t index = some(node_flaps);
    for (Millis after = 0; after < 30'000; after += 6'000)
      die(index, after, town_.dice.of(node_flaps).between(500, 5'000));
  }
  if (town_.dice.strikes(node_bad, 0.05)) {
    ModelCluster::Node& node = nodes[some(node_bad)];
    const Millis lasts = town_.dice.of(node_bad).between(30'000, 900'000);
    node.bad.emplace_back(timeline.now(), timeline.now() + lasts);
    node.silent = town_.dice.strikes(probe_silent, 2);
    town_.book.note(timeline.now(), "cluster  node {} is bad for {} s{}", node.name, lasts / 1000,
                    node.silent ? ", and no witness says so" : "");
  }
  if (town_.dice.strikes(controller_restarts, 0.02))
    town_.cluster.restart_controller(town_.dice.of(controller_restarts).between(2'000, 90'000));
}

/// Often one that an action concerns.
std::string People::some_node(Fault fault) {
  Random& random = town_.dice.of(fault);
  std::vector<std::string> of_interest;
  if (Daemon* const daemon = town_.daemon(); daemon != nullptr)
    for (const auto& [id, action] : daemon->loop().actions().all())
      for (const NodeGpus& each : action.call.nodes) of_interest.push_back(each.node);
  for (const ModelCluster::Node& node : town_.cluster.nodes())
    if (!node.drain.empty()) of_interest.push_back(node.name);
  const bool any = of_interest.empty() || random.uniform() < 0.3;
  const auto& nodes = town_.cluster.nodes();
  if (any) return nodes[static_cast<std::size_t>(random.below(std::ssize(nodes)))].name;
  return of_interest[static_cast<std::size_t>(random.below(std::ssize(of_interest)))];
}

std::string People::some_job(Fault fault, JobPhase phase) {
  Random& random = town_.dice.of(fault);
  std::vector<std::string> ids, of_interest;
  for (const ModelCluster::Job& job : town_.cluster.jobs())
    if (job.seen.phase == phase) ids.push_back(job.seen.id);
  if (Daemon* const daemon = town_.daemon(); daemon != nullptr)
    for (const auto& [id, action] : daemon->loop().actions().all())
      if (std::ranges::find(ids, action.call.job) != ids.end())
        of_interest.push_back(action.call.job);
  if (ids.empty()) return {};
  if (of_interest.empty() || random.uniform() < 0.3)
    return ids[static_cast<std::size_t>(random.below(std::ssize(ids)))];
  return of_interest[static_cast<std::size_t>(random.below(std::ssize(of_interest)))];
}

void People::at_nodes() {
  ModelCluster& cluster = town_.cluster;
  if (town_.dice.strikes(human_drains, 0.04)) {
    const std::string node = some_node(human_drains);
    if (const auto* const found = cluster.find_node(node); found->drain.empty())
      cluster.human_drains(node, town_.dice.of(human_drains).below(3) == 0
                                     ? "schedmate:elsewhere, of another site"
                                     : fmt::format("alice {}", ++marks_));
  }
  if (town_.dice.strikes(other_instance, 0.01))
    cluster.human_drains(some_node(other_instance),
                         fmt::format("{}{} Xid 79", marks_elsewhere, ++marks_));
  if (town_.dice.strikes(human_undrains, 0.05)) cluster.human_undrains(some_node(human_undrains));
  if (town_.dice.strikes(human_takes_over, 0.08)) {
    const std::string node = some_node(human_takes_over);
    if (const auto* const found = cluster.find_node(node); !found->drain.empty())
      cluster.human_drains(node, fmt::format("bob {}", ++marks_));
    for (const ModelCluster::Job& job : cluster.jobs())
      if (job.seen.held && town_.dice.of(human_takes_over).below(2) == 0)
        return cluster.human_holds(job.seen.id, fmt::format("bob {}", ++marks_));
  }
}

void People::at_jobs() {
  ModelCluster& cluster = town_.cluster;
  Dice& dice = town_.dice;
  if (dice.strikes(human_requeues, 0.04)) {
    const auto phase = dice.of(human_requeues).below(2) == 0 ? JobPhase::running : JobPhase::ended;
    cluster.human_requeues(some_job(human_requeues, phase));
  }
  if (dice.strikes(human_cancels, 0.03)) {
    const auto phase = dice.of(human_cancels).below(2) == 0 ? JobPhase::running : JobPhase::queued;
    cluster.human_cancels(some_job(human_cancels, phase));
  }
  if (dice.strikes(human_holds, 0.04))
    cluster.human_holds(some_job(human_holds, JobPhase::queued), fmt::format("carol {}", ++marks_));
  if (dice.strikes(human_releases, 0.06))
    cluster.human_releases(some_job(human_releases, JobPhase::queued));
  if (dice.strikes(human_starts, 0.06))
    cluster.human_starts(some_job(human_starts, JobPhase::queued));
  if (dice.strikes(human_orders, 0.1)) {
    const std::string job = some_job(human_orders, JobPhase::queued);
    Random& random = dice.of(human_orders);
    cluster.human_orders(job, random.between(-5, 5));
    if (random.below(2) == 0)  // and takes it back
      town_.timeline.in(random.between(10'000, 100'000), [this, job] {
        if (town_.dice.on(human_orders)) town_.cluster.human_orders(job, 0);
      });
  }
  if (dice.strikes(human_notes, 0.05))
    cluster.human_notes(some_job(human_notes, JobPhase::running), fmt::format("note {}", ++marks_));
}

void People::tidy_up() {
  for (ModelCluster::Node& node : town_.cluster.nodes()) {
    town_.cluster.set_dead(node, false);
    if (!node.drain.starts_with("schedmate:storm/")) town_.cluster.human_undrains(node.name);
  }
  for (const ModelCluster::Job& job : town_.cluster.jobs())
    if (job.seen.held && !job.seen.mark.starts_with("schedmate:storm/"))
      town_.cluster.human_releases(job.seen.id);
}

std::vector<const Action*> People::actions(ActionState state) const {
  std::vector<const Action*> found;
  Daemon* const daemon = town_.daemon();
  if (daemon == nullptr) return found;
  for (const auto& [id, action] : daemon->loop().actions().all())
    if (action.state() == state) found.push_back(&action);
  return found;
}

void People::decide(live::Decided::What what, std::int64_t action) {
  Daemon* const daemon = town_.daemon();
  if (daemon == nullptr) return;
  constexpr std::array<std::string_view, 4> names = {"approves", "rejects", "undoes",
                                                     "closes the breaker"};
  town_.book.note(town_.timeline.now(), "operator {} {}", names.at(static_cast<std::size_t>(what)),
                  action);
  const live::Decided decided{.what = what, .action = action, .by = "olga"};
  town_.book.decisions.push_back(decided);
  daemon->tell(decided);
}

void People::operators() {
  using enum live::Decided::What;
  const auto some = [&](Fault fault, ActionState state) -> std::int64_t {
    Random& random = town_.dice.of(fault);
    const auto found = actions(state);
    constexpr double wrong = 0.05;
    if (random.uniform() < wrong) return random.below(30);
    if (found.empty()) return 0;
    return found[static_cast<std::size_t>(random.below(std::ssize(found)))]->id;
  };
  constexpr double often = 0.4;
  if (town_.dice.strikes(operator_approves, often))
    if (const auto id = some(operator_approves, ActionState::waiting); id > 0) decide(approve, id);
  if (town_.dice.strikes(operator_rejects, 0.1))
    if (const auto id = some(operator_rejects, ActionState::waiting); id > 0) decide(reject, id);
  if (town_.dice.strikes(operator_undoes, 0.2))
    if (const auto id = some(operator_undoes, ActionState::verified); id > 0) decide(undo, id);
  if (town_.dice.strikes(operator_closes_breaker, 0.02)) decide(close_breaker, 0);
}

void People::undo_one() {
  for (const Action* const action : actions(ActionState::verified))
    if (action->undoes == 0) return decide(live::Decided::What::undo, action->id);
}

void People::approve_all() {
  std::vector<std::int64_t> ids;
  for (const Action* const action : actions(ActionState::waiting)) ids.push_back(action->id);
  for (const std::int64_t id : ids) decide(live::Decided::What::approve, id);
}

}  // namespace schedmate::storm
