// SPDX-License-Identifier: Apache-2.0
#include "live/node_care.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace schedmate::live {
namespace {

using Nodes = std::vector<NodeGpus>;
constexpr std::string_view one_witness = "rule one_witness";

std::string names(const Nodes& nodes) {
  std::string list;
  for (const NodeGpus& each : nodes) list += (list.empty() ? "" : " ") + each.node;
  return list;
}

const SeenNode* node_of(const Listing& listing, const std::string& name) {
  const auto found = std::ranges::find(listing.nodes, name, &SeenNode::name);
  return found == listing.nodes.end() ? nullptr : &*found;
}

bool is_busy(const Listing& listing, const std::string& node) {
  return std::ranges::any_of(listing.jobs, [&](const SeenJob& job) {
    return job.phase == JobPhase::running &&
           std::ranges::find(job.nodes, node, &NodeGpus::node) != job.nodes.end();
  });
}

std::array<Nodes, 2> halves_of(const Nodes& nodes) {
  const auto middle = nodes.begin() + std::ssize(nodes) / 2;
  return {Nodes(nodes.begin(), middle), Nodes(middle, nodes.end())};
}

/// The log that the first test began with says this; "": it began with none.
std::string blame(const Action& test) {
  if (test.why.empty() || !test.why.front().starts_with("rule ") ||
      test.why.front().starts_with(one_witness))
    return {};
  return test.why.size() > 1 ? test.why[1] : test.why.front();
}

Proposal drain_of(const Action& test, const std::string& node, SimTime now) {
  Proposal made;
  made.call = {.kind = ActionKind::drain_node, .nodes = {{node, {}}}, .text = blame(test)};
  made.why = test.why;
  made.witnesses = told_before(test, node);
  if (!blame(test).empty())
    made.witnesses.push_back({"log", node, test.steps.front().when, blame(test)});
  else if (!made.witnesses.empty())
    made.call.text = made.witnesses.front().says;
  std::erase_if(made.why, [&](const std::string& line) {  // the record says it again
    return std::ranges::any_of(made.witnesses, [&](const NodeWitness& each) {
      return line == fmt::format("{} of {}: {}", each.source, each.node, each.says);
    });
  });
  made.witnesses.push_back({"test", node, now, test.steps.back().note});
  return made;
}

}  // namespace

/// "SOURCE of NODE: WORDS" of its reasons, as they were recorded.
std::vector<NodeWitness> told_before(const Action& action, const std::string& node) {
  std::vector<NodeWitness> witnesses;
  const std::string middle = fmt::format(" of {}: ", node);
  for (const std::string& line : action.why)
    if (const std::size_t at = line.find(middle);
        at != std::string::npos && line.find(' ') == at && at > 0)
      witnesses.push_back(
          {line.substr(0, at), node, action.steps.front().when, line.substr(at + middle.size())});
  return witnesses;
}

bool NodeCare::counts(const NodeWitness& witness) {
  if (!witness.may_pass) return true;
  const auto found = flaps_.find(witness.node);
  const bool is_second = found != flaps_.end() && witness.when > found->second &&
                         witness.when - found->second <= between_flaps;
  SimTime& last = flaps_[witness.node];
  last = std::max(last, witness.when);
  return is_second;
}

void NodeCare::suspect(const NodeWitness& witness) { lonely_.try_emplace(witness.node, witness); }

void NodeCare::began(const Proposal& proposal, std::int64_t id) {
  const auto found = proposed_.find(names(proposal.call.nodes));
  if (found != proposed_.end()) trials_[id] = std::move(proposed_.extract(found).mapped());
}

// Which of several it is -------------------------------------------------------------------------

NodeCare::Outcome NodeCare::follow(const Action& test, const View& view) {
  auto known = trials_.extract(test.id);
  const Trial trial =
      known.empty() ? Trial{.suspects = test.call.nodes} : std::move(known.mapped());
  if (!test.call.text.empty()) return follow_return(test, view);
  over_[test.id] = {test.call.nodes, trial.parent, view.now};
  const std::string& note = test.steps.back().note;
  const bool tells = test.state() == ActionState::verified &&
                     (note == test_passed || note.starts_with(test_failed));
  if (!tells) {
    if (!tries_another(trial, test, view)) parts_.erase(trial.parent);
    return {};
  }
  const bool passed = note == test_passed;
  if (!trial.accused.empty()) return follow_partner(trial, test, passed, view.now);
  if (!trial.partner.empty() || passed)
    return trial.parent == 0 ? Outcome() : follow_part(trial, test, passed, view);
  parts_.erase(trial.parent);
  Outcome outcome;
  if (trial.suspects.size() < 2 || !view.actions.settings().rules.halves_suspects)
    for (const NodeGpus& node : trial.suspects)
      outcome.proposals.push_back(drain_of(test, node.node, view.now));
  else
    split(test, view);
  return outcome;
}

/// Where it failed each half is tested.
void NodeCare::split(const Action& test, const View& view) {
  parts_[test.id] = {};
  for (Nodes& half : halves_of(test.call.nodes))
    propose_later({.suspects = std::move(half), .parent = test.id}, test, view);
}

void NodeCare::propose_later(Trial trial, const Action& after, const View& view) {
  constexpr std::size_t most_waiting = 64;
  if (waiting_.size() >= most_waiting) return;
  Proposal next;
  next.call = {.kind = ActionKind::test_nodes, .nodes = trial.suspects};
  if (!trial.partner.empty()) next.call.nodes.push_back({trial.partner, {}});
  next.why = after.why;
  std::erase_if(next.why, [](const std::string& line) { return line.starts_with("half of "); });
  next.why.push_back(trial.parent == after.id && trial.partner.empty()
                         ? fmt::format("half of the nodes of test {}, which failed", after.id)
                         : fmt::format("after test {}", after.id));
  waiting_.push_back({std::move(next), std::move(trial), view.now});
}

/// It is good by itself, so that the node which failed with it is not.
NodeCare::Outcome NodeCare::follow_partner(const Trial& trial, const Action& test, bool passed,
                                           SimTime now) {
  const std::string& partner = trial.suspects.front().node;
  if (!passed)
    return {.remark = "nodes fail together only",
            .note = fmt::format("{} with {}, which fails alone, too", trial.accused, partner)};
  Outcome outcome;
  Proposal drain = drain_of(test, trial.accused, now);
  drain.witnesses.back().says = fmt::format("{}; {} passes alone", trial.said, partner);
  outcome.proposals.push_back(std::move(drain));
  return outcome;
}

NodeCare::Outcome NodeCare::follow_part(Trial trial, const Action& test, bool passed,
                                        const View& view) {
  Outcome outcome;
  const auto found = parts_.find(trial.parent);
  if (found == parts_.end()) return outcome;
  Parts& parts = found->second;
  trial.said = test.steps.back().note;
  const std::int64_t parent = trial.parent;
  const bool with_partner = !trial.partner.empty();
  if (passed)
    parts.passed.push_back(trial.suspects);
  else
    parts.failed_with_partner.push_back(std::move(trial));
  if (--parts.open > 0) return outcome;
  const Parts known = std::move(parts_.extract(found).mapped());
  if (!with_partner) return together_only(parent, known, test, view);
  const auto& failed = known.failed_with_partner;
  if (failed.size() == 1) {
    propose_later({.suspects = {{failed.front().partner, {}}},
                   .accused = failed.front().suspects.front().node,
                   .said = failed.front().said},
                  test, view);
    return outcome;
  }
  outcome.remark = "nodes fail together only";
  outcome.note =
      failed.empty()
          ? fmt::format("what lies between {} and {}: each passes alone and with another",
                        names(known.passed.at(0)), names(known.passed.at(1)))
          : fmt::format("{} and {}: each passes alone and fails with another",
                        names(failed.at(0).suspects), names(failed.at(1).suspects));
  return outcome;
}

/// Nodes like these, free, of which nobody says anything bad; not those that were `tried`.
std::vector<std::string> NodeCare::good_partners(const Nodes& suspects,
                                                 const std::vector<std::string>& tried,
                                                 const View& view) const {
  std::vector<std::string> good;
  const SeenNode* const bad = node_of(view.listing, suspects.front().node);
  const SimTime lately = view.now - view.actions.settings().waits.witness_age;
  for (const SeenNode& node : view.listing.nodes) {
    const bool alike = bad != nullptr && node.partition == bad->partition && node.gpus == bad->gpus;
    const bool is_suspect =
        lonely_.contains(node.name) || std::ranges::count(suspects, node.name, &NodeGpus::node) > 0;
    if (alike && node.state == NodeState::up && !node.spare && !is_suspect &&
        std::ranges::count(tried, node.name) == 0 && !is_busy(view.listing, node.name) &&
        view.witnesses.of(node.name, lately).empty())
      good.push_back(node.name);
  }
  return good;
}

/// A test with a partner that was not made, say because a job came first, is made with another one.
bool NodeCare::tries_another(const Trial& trial, const Action& test, const View& view) {
  constexpr std::size_t most_partners = 3;
  if (trial.partner.empty() || !parts_.contains(trial.parent)) return false;
  Trial next = trial;
  next.tried.push_back(trial.partner);
  const auto good = good_partners(next.beside, next.tried, view);
  if (next.tried.size() >= most_partners || good.empty()) return false;
  next.partner = good.back();
  propose_later(std::move(next), test, view);
  return true;
}

/// Both halves passed: parts of the one with parts of the other, down to two nodes; then each of
/// them with a node of which nobody says anything bad.
NodeCare::Outcome NodeCare::together_only(std::int64_t whole, const Parts& parts,
                                          const Action& test, const View& view) {
  Outcome outcome;
  outcome.remark = "nodes fail together only";
  outcome.note = fmt::format("both halves of the nodes of test {} passed", whole);
  const Nodes &first = parts.passed.at(0), &second = parts.passed.at(1);
  if (first.size() + second.size() > 2) {
    for (const Nodes& one : halves_of(first))
      for (const Nodes& other : halves_of(second)) {
        if ((one.empty() && first.size() > 1) || (other.empty() && second.size() > 1)) continue;
        if (one.empty() || other.empty()) continue;
        Nodes both = one;
        both.insert(both.end(), other.begin(), other.end());
        propose_later({.suspects = std::move(both)}, test, view);
      }
    return outcome;
  }
  const Nodes both = {first.front(), second.front()};
  const std::vector<std::string> good = good_partners(both, {}, view);
  if (good.empty()) return outcome;
  parts_[whole] = {};
  // The last ones: clusters fill their nodes from the first on, and these two are to stay free.
  const std::string& other = good[good.size() - std::min<std::size_t>(2, good.size())];
  propose_later({.suspects = {both[0]}, .parent = whole, .partner = other, .beside = both}, test,
                view);
  propose_later({.suspects = {both[1]}, .parent = whole, .partner = good.back(), .beside = both},
                test, view);
  return outcome;
}

// What is due ------------------------------------------------------------------------------------

std::vector<Proposal> NodeCare::due(const View& view) {
  std::vector<Proposal> proposals;
  proposed_.clear();
  std::erase_if(flaps_, [&](const auto& each) { return view.now - each.second > between_flaps; });
  add_waiting(view, proposals);
  add_suspects(view, proposals);
  add_returns(view, proposals);
  add_spares(view, proposals);
  return proposals;
}

void NodeCare::add_waiting(const View& view, std::vector<Proposal>& proposals) {
  constexpr Seconds longest{3600};
  std::set<std::string> taken;
  std::erase_if(waiting_, [&](Waiting& each) {
    const Nodes& nodes = each.proposal.call.nodes;
    const bool all_serve = std::ranges::all_of(nodes, [&](const NodeGpus& node) {
      const SeenNode* const seen = node_of(view.listing, node.node);
      return seen != nullptr && seen->state == NodeState::up;
    });
    if (!all_serve || view.now - each.since > longest) {
      parts_.erase(each.trial.parent);
      return true;
    }
    const auto is_taken = [&](const NodeGpus& node) { return taken.contains(node.node); };
    if (view.actions.busy(each.proposal.call) || std::ranges::any_of(nodes, is_taken)) return false;
    for (const NodeGpus& node : nodes) taken.insert(node.node);
    proposed_[names(nodes)] = std::move(each.trial);
    proposals.push_back(std::move(each.proposal));
    return true;
  });
}

/// Once nobody has confirmed it in the usual time, and nobody works there.
void NodeCare::add_suspects(const View& view, std::vector<Proposal>& proposals) {
  constexpr Seconds longest{3600};
  const Seconds wait = view.actions.settings().waits.witness;
  std::erase_if(lonely_, [&](const auto& each) {
    const auto& [name, witness] = each;
    const SeenNode* const node = node_of(view.listing, name);
    if (node == nullptr || node->state != NodeState::up || view.now - witness.when > longest)
      return true;
    if (view.now - witness.when < wait || is_busy(view.listing, name)) return false;
    Proposal test;
    test.call = {.kind = ActionKind::test_nodes, .nodes = {{name, {}}}};
    test.why = {std::string(one_witness)};
    test.witnesses = {witness};
    if (view.actions.busy(test.call)) return false;
    proposals.push_back(std::move(test));
    return true;
  });
}

// Nodes that return, and spares ------------------------------------------------------------------

void NodeCare::add_returns(const View& view, std::vector<Proposal>& proposals) {
  const Settings& settings = view.actions.settings();
  const Seconds after = settings.waits.return_after;
  if (after == Seconds(0)) return;
  for (const auto& [id, drain] : view.actions.all()) {
    if (drain.call.kind != ActionKind::drain_node || drain.state() != ActionState::verified)
      continue;
    const std::string& name = drain.call.nodes.front().node;
    const SeenNode* const node = node_of(view.listing, name);
    if (node == nullptr || node->state != NodeState::drained || is_busy(view.listing, name))
      continue;
    Return& back =
        returns_.try_emplace(id, Return{drain.steps.back().when + after, after}).first->second;
    Proposal test;
    test.call = {.kind = ActionKind::test_nodes, .nodes = {{name, {}}}};
    test.call.text = mark_of(settings, id);
    test.why = {fmt::format("rule mended: it was drained by action {}", id)};
    const SimTime lately = view.now - std::min(after, settings.waits.witness_age);
    if (view.now < back.next || view.actions.busy(test.call) ||
        !view.witnesses.of(name, lately).empty())
      continue;
    back.wait *= 2;  // should it fail
    back.next = view.now + back.wait;
    proposals.push_back(std::move(test));
  }
  std::erase_if(returns_,
                [&](const auto& each) { return view.actions.find(each.first) == nullptr; });
}

NodeCare::Outcome NodeCare::follow_return(const Action& test, const View& view) {
  const std::string& node = test.call.nodes.front().node;
  const auto id = marked_by(view.actions.settings(), test.call.text);
  const Action* const drain = id ? view.actions.find(*id) : nullptr;
  const bool stands = drain != nullptr && drain->state() == ActionState::verified;
  if (!stands) return {};  // somebody else has decided about the node
  if (test.state() != ActionState::verified || test.steps.back().note != test_passed)
    return {.remark = "a node stays drained",
            .note = fmt::format("{}: test {}: {}", node, test.id, test.steps.back().note)};
  Outcome outcome;
  auto call = undoing(*drain);
  if (!call) return outcome;
  Proposal back;
  back.call = std::move(*call);
  back.why = {fmt::format("rule mended: {} passed its test (action {})", node, test.id)};
  back.before = drain->call.text;
  back.undoes = drain->id;
  outcome.proposals.push_back(std::move(back));
  return outcome;
}

void NodeCare::add_spares(const View& view, std::vector<Proposal>& proposals) {
  const auto is_over = [&](const auto& each) { return view.actions.find(each.first) == nullptr; };
  has_news_ = std::erase_if(spares_, is_over) > 0 || has_news_;
  if (!view.actions.settings().can_release_spare) return;
  std::set<std::string> taken;
  for (const auto& [id, drain] : view.actions.all()) {
    if (drain.call.kind != ActionKind::drain_node || drain.state() != ActionState::verified ||
        drain.undoes != 0 || spares_.contains(id))
      continue;
    const SeenNode* const bad = node_of(view.listing, drain.call.nodes.front().node);
    if (bad == nullptr) continue;
    const auto spare = std::ranges::find_if(view.listing.nodes, [&](const SeenNode& node) {
      return node.spare && node.state == NodeState::up && node.partition == bad->partition &&
             node.gpus >= bad->gpus && !taken.contains(node.name);
    });
    if (spare == view.listing.nodes.end()) continue;
    Proposal release;
    release.call = {.kind = ActionKind::release_spare, .nodes = {{spare->name, {}}}};
    release.before = was_spare;
    release.why = {fmt::format("rule spare: {} was drained by action {}", bad->name, id)};
    if (view.actions.busy(release.call)) continue;
    taken.insert(spare->name);
    spares_[id] = spare->name;
    has_news_ = true;
    proposals.push_back(std::move(release));
  }
}

void NodeCare::restore(std::string_view text) {
  const auto kept = nlohmann::json::parse(text, nullptr, false);
  if (!kept.is_array()) return;
  for (const auto& each : kept)
    if (each.is_array() && each.size() == 2 && each[0].is_number_integer() && each[1].is_string())
      spares_[each[0].get<std::int64_t>()] = each[1].get<std::string>();
}

std::optional<std::string> NodeCare::take_text() {
  if (!std::exchange(has_news_, false)) return std::nullopt;
  auto kept = nlohmann::json::array();
  for (const auto& [drain, node] : spares_) kept.push_back({drain, node});
  return kept.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool NodeCare::goes_on(std::int64_t test, const View& view) const {
  const auto found = over_.find(test);
  if (found == over_.end()) return false;
  const Over& over = found->second;
  const auto is_of_same = [&](const ActionCall& call) {
    return call.kind == ActionKind::test_nodes &&
           std::ranges::find_first_of(call.nodes, over.nodes, {}, &NodeGpus::node,
                                      &NodeGpus::node) != call.nodes.end();
  };
  return parts_.contains(over.parent) ||
         std::ranges::any_of(
             waiting_, is_of_same,
             [](const Waiting& each) -> const ActionCall& { return each.proposal.call; }) ||
         std::ranges::any_of(view.actions.all(), [&](const auto& each) {
           const ActionState state = each.second.state();
           return is_in_flight(state) && state != ActionState::called &&
                  is_of_same(each.second.call);
         });
}

std::vector<std::string> NodeCare::left_over(const View& view) {
  constexpr Seconds again{10}, longest{120};
  std::vector<std::string> tokens;
  std::erase_if(over_, [&](const auto& each) { return view.now - each.second.since > longest; });
  std::erase_if(ending_, [&](const auto& each) {
    return std::ranges::find(view.listing.tests, each.first) == view.listing.tests.end();
  });
  for (const std::string& token : view.listing.tests) {
    const auto id = marked_by(view.actions.settings(), token);
    const Action* const test = id ? view.actions.find(*id) : nullptr;
    const bool is_needed = test != nullptr && is_in_flight(test->state());
    if (!id || is_needed || goes_on(*id, view)) continue;
    const auto asked = ending_.find(token);
    if (asked != ending_.end() && view.now < asked->second + again) continue;
    ending_[token] = view.now;
    tokens.push_back(token);
  }
  return tokens;
}

}  // namespace schedmate::live
