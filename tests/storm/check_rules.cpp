// SPDX-License-Identifier: Apache-2.0

/// Caps, breaker, witnesses and outcomes, recounted from the journal and the truth of the world.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tests/storm/inspector.hpp"
#include "tests/storm/people.hpp"

namespace schedmate::storm {
namespace {

/// How far daemon's clock and the true one may move against each other in a run.
constexpr Seconds jumps{300};

bool disturbing(ActionKind kind) {
  using enum ActionKind;
  for (const ActionKind each : {hold, evict, requeue_excluding, drain_node, cancel, test_nodes})
    if (kind == each) return true;
  return false;
}

SimTime reached_at(const Action& action, ActionState state) {
  for (const ActionStep& step : action.steps)
    if (step.state == state) return step.when;
  return never;
}

/// The first of the tests of which a half was tested, and so on; when it was planned. Nothing: no
/// half was.
std::optional<SimTime> tested_since(const Records& records, const Action& drain) {
  constexpr std::string_view begin = "half of the nodes of test ";
  for (const std::string& line : drain.why)
    if (line.starts_with(begin))
      if (const Action* const test = records.find(std::atoll(line.c_str() + begin.size())))
        return test->steps.front().when;
  return std::nullopt;
}

}  // namespace

void Inspector::check_approvals(const Records& records) {
  for (const Action& action : records.actions) {
    const bool claims = reached_at(action, ActionState::approved) != never;
    if (claims && !approved(action))
      return accuse("obeys_modes",
                    fmt::format("action {} is approved, and no operator did", action.id));
  }
}

std::int64_t Inspector::drain_cap() const {
  const std::int64_t nodes = std::ssize(cluster_.nodes());
  const std::int64_t share = (nodes * settings_.caps.drained_pct_max + 99) / 100;
  return std::min(settings_.caps.drained_nodes_max, std::max<std::int64_t>(1, share));
}

/// At each intent that nobody has approved.
void Inspector::check_caps(const Records& records) {
  std::vector<SimTime> disturbed;
  std::map<std::int64_t, std::string> states;
  for (const Records::Entry& entry : records.entries) {
    if (entry.action == 0) continue;
    states[entry.action] = entry.what;
    const Action& action = *records.find(entry.action);
    if (entry.what != "intended" || !disturbing(action.call.kind)) continue;
    const auto recent = std::ranges::count_if(
        disturbed, [&](SimTime when) { return entry.when - when < Seconds(3600) - jumps; });
    disturbed.push_back(entry.when);
    if (approved(action)) continue;
    if (recent >= settings_.caps.actions_per_hour)
      return accuse("caps", fmt::format("action {} is the {}th in an hour", action.id, recent + 1));
    if (action.call.kind == ActionKind::requeue_excluding &&
        action.call.restarts >= settings_.caps.requeues_per_job)
      return accuse("caps", fmt::format("action {} requeues a job after {} restarts", action.id,
                                        action.call.restarts));
    if (action.call.kind != ActionKind::drain_node) continue;
    std::set<std::string> out;
    for (const auto& [id, state] : states) {
      const Action& other = *records.find(id);
      const bool counts =
          state == "intended" || state == "called" || state == "ambiguous" || state == "verified";
      if (!counts || other.call.kind != ActionKind::drain_node) continue;
      for (const NodeGpus& each : other.call.nodes) out.insert(each.node);
    }
    if (std::ssize(out) > drain_cap())
      return accuse("caps", fmt::format("action {} drains the {}th node, {} are allowed", action.id,
                                        out.size(), drain_cap()));
  }
}

/// Three nodes that are to be drained within the hour open it, and while it is open nothing that
/// disturbs is planned or approved.
void Inspector::check_breaker(const Records& records) {
  constexpr std::int64_t least = 3;
  const std::int64_t nodes = std::ssize(cluster_.nodes());
  const std::int64_t most = std::max(least, (nodes * settings_.caps.breaker_pct + 99) / 100);
  bool open = false;
  std::vector<std::pair<SimTime, std::string>> bad;
  for (const Records::Entry& entry : records.entries) {
    if (entry.action == 0) {
      if (entry.what == "breaker opened") open = true;
      if (entry.what == "breaker closed") {
        open = false;
        bad.clear();
      }
      continue;
    }
    const Action* const found = records.find(entry.action);
    if (found == nullptr)
      return accuse("chain", fmt::format("an entry is of action {}, which is not in the journal",
                                         entry.action));
    const Action& action = *found;
    if (!disturbing(action.call.kind) || action.mode == Mode::shadow) continue;
    if (open && (entry.what == "planned" || entry.what == "approved"))
      return accuse("breaker", fmt::format("action {} is {} while the breaker is open", action.id,
                                           entry.what));
    if (entry.what != "planned" || action.call.kind != ActionKind::drain_node) continue;
    bad.emplace_back(entry.when, action.call.nodes.front().node);
    std::set<std::string> recent;
    for (const auto& [when, node] : bad)
      if (entry.when - when < Seconds(3600) - jumps) recent.insert(node);
    if (std::ssize(recent) >= most)
      return accuse("breaker", fmt::format("action {} drains the {}th node in an hour, and the "
                                           "breaker is closed",
                                           action.id, recent.size()));
  }
}

/// The cluster itself was a witness: it had lost each of these nodes.
bool Inspector::was_dead(const ActionCall& call, SimTime when) const {
  constexpr Seconds read_late{900};
  const auto around = [&](const std::pair<Millis, Millis>& span) {
    const SimTime from = Timeline::clock_at(span.first);
    const SimTime to = span.second == INT64_MAX ? never : Timeline::clock_at(span.second);
    return from - jumps <= when && (to == never || when <= to + read_late + jumps);
  };
  return std::ranges::all_of(call.nodes, [&](const NodeGpus& each) {
    const auto& nodes = cluster_.nodes();
    const auto node = std::ranges::find(nodes, each.node, &ModelCluster::Node::name);
    return node != nodes.end() && std::ranges::any_of(node->deaths, around);
  });
}

/// A log had blamed it before, and it was bad when it failed a test of itself alone, or with a
/// partner.
bool Inspector::was_found(const std::string& node, SimTime from, SimTime when) const {
  constexpr Seconds read_late{900};
  const auto within = [&](Millis then, SimTime first, SimTime last) {
    const SimTime instant = Timeline::clock_at(then);
    return first - read_late - jumps <= instant && instant <= last + jumps;
  };
  const auto is_of = [&](const Tested& test) {
    if (test.nodes.size() > 2 || std::ranges::find(test.nodes, node) == test.nodes.end())
      return false;
    const auto& nodes = cluster_.nodes();
    const auto known = std::ranges::find(nodes, node, &ModelCluster::Node::name);
    return test.nodes.size() == 1 ||
           (known != nodes.end() && std::ranges::any_of(known->bad, [&](const auto& span) {
              return span.first <= test.when && test.when <= span.second;
            }));
  };
  return std::ranges::any_of(book_.tests,
                             [&](const Tested& test) {
                               return is_of(test) && test.failed && test.truly_bad &&
                                      within(test.when, when, when);
                             }) &&
         std::ranges::any_of(book_.blames, [&](const Blamed& blame) {
           return blame.node == node && within(blame.when, from, when);
         });
}

/// Whether somebody truly had two witnesses when it was planned.
void Inspector::check_witnesses(const Records& records) {
  constexpr Seconds queued{30};
  for (const Action& action : records.actions) {
    const ActionKind kind = action.call.kind;
    if (kind == ActionKind::test_nodes && action.why.back().starts_with("half of ")) ++book_.halves;
    const bool wants = kind == ActionKind::drain_node ||
                       (kind == ActionKind::requeue_excluding && !action.call.nodes.empty());
    if (!wants) continue;
    const SimTime planned = action.steps.front().when;
    const bool had = std::ranges::any_of(book_.offered, [&](const Offered& each) {
      return each.proposal.call.kind == kind && each.proposal.call.nodes == action.call.nodes &&
             each.truly_bad && std::chrono::abs(planned - each.wall) <= queued + jumps;
    });
    if (had) continue;
    const bool other = kind == ActionKind::requeue_excluding
                           ? was_dead(action.call, planned)
                           : was_found(action.call.nodes.front().node,
                                       tested_since(records, action).value_or(planned), planned);
    if (kind == ActionKind::drain_node && other) ++book_.found;
    if (!other)
      return accuse("two_witnesses",
                    fmt::format("action {} ({}) was planned without two true witnesses", action.id,
                                storm::text_of(action.call)));
  }
}

/// One that it has not read before is there between two readings of this daemon.
void Inspector::look_for_others(const Daemon& daemon) {
  std::set<std::string> marks;
  for (const SeenNode& node : daemon.listing()->nodes)
    if (node.reason.starts_with(marks_elsewhere)) marks.insert(node.reason);
  const bool watched = std::exchange(watched_by_, daemon.life()) == daemon.life();
  if (watched && !std::ranges::includes(elsewhere_, marks)) warned_ = {daemon.life(), site_.wall()};
  elsewhere_ = std::move(marks);
}

/// Since then it intends nothing but to take back what it did, until it says that it acts again.
void Inspector::check_alone(const Daemon& daemon, const journal::Batch& batch) {
  const auto acts_again = [](const journal::Remark& each) { return each.what == "acting again"; };
  if (std::ranges::any_of(batch.remarks, acts_again)) warned_.reset();
  if (!warned_ || warned_->life != daemon.life()) return;
  const auto intends = [&](std::int64_t id, const ActionStep& step) {
    if (step.state == ActionState::intended && step.when > warned_->when)
      accuse("one_instance",
             fmt::format("action {} is intended, and another instance was seen to act", id));
  };
  for (const Action& action : batch.actions) {
    const ActionKind kind = action.call.kind;
    if (action.undoes != 0 || kind == ActionKind::undrain_node || kind == ActionKind::release)
      continue;
    for (const ActionStep& step : action.steps) intends(action.id, step);
  }
  for (const journal::NewStep& each : batch.steps) intends(each.action, each.step);
}

}  // namespace schedmate::storm
