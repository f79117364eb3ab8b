// SPDX-License-Identifier: Apache-2.0
/// Which of the nodes that a log blames is it? Where their test fails, each half of them is tested,
/// until the test of a single node has failed: that and the log are two witnesses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "live/loop.hpp"

namespace schedmate::live {
namespace {

/// The log that the first test began with says this; "": it began with none.
std::string blame(const Action& test) {
  if (test.why.empty() || !test.why.front().starts_with("rule ")) return {};
  return test.why.size() > 1 ? test.why[1] : test.why.front();
}

Proposal drain_of(const Action& test, const std::string& node, SimTime now) {
  Proposal made;
  made.call = {.kind = ActionKind::drain_node, .nodes = {{node, {}}}, .text = blame(test)};
  made.why = test.why;
  if (!blame(test).empty())
    made.witnesses.push_back({"log", node, test.steps.front().when, blame(test)});
  made.witnesses.push_back({"test", node, now, test.steps.back().note});
  return made;
}

}  // namespace

bool Loop::is_own_test(const SeenJob& job) const {
  return !job.token.empty() && marked_by(options_.settings, job.token);
}

std::set<std::string_view> Loop::nodes_tested(const Listing& listing) const {
  std::set<std::string_view> nodes;
  for (const SeenJob& job : listing.jobs)
    if (job.phase == JobPhase::running && is_own_test(job))
      for (const NodeGpus& each : job.nodes) nodes.insert(each.node);
  return nodes;
}

void Loop::follow_test(const Action& test, SimTime now) {
  const auto half = halves_.find(test.id);
  const std::int64_t whole = half != halves_.end() ? half->second : 0;
  if (half != halves_.end()) halves_.erase(half);
  const std::string& note = test.steps.back().note;
  const bool tells = test.state() == ActionState::verified &&
                     (note == test_passed || note.starts_with(test_failed));
  if (!tells) return void(passed_halves_.erase(whole));
  if (note == test_passed) {
    if (whole == 0 || ++passed_halves_[whole] < 2) return;
    passed_halves_.erase(whole);
    batch_.remarks.push_back({"nodes fail together only", now, own_name,
                              fmt::format("both halves of the nodes of test {} passed", whole)});
    return;
  }
  passed_halves_.erase(whole);
  const std::vector<NodeGpus>& nodes = test.call.nodes;
  if (nodes.size() < 2 || !options_.settings.rules.halves_suspects) {
    for (const NodeGpus& node : nodes) (void)actions_.propose(drain_of(test, node.node, now), now);
    return;
  }
  const auto middle = nodes.begin() + std::ssize(nodes) / 2;
  for (auto& part :
       std::array{std::vector(nodes.begin(), middle), std::vector(middle, nodes.end())}) {
    Proposal next;
    next.call = {.kind = ActionKind::test_nodes, .nodes = std::move(part)};
    next.why = test.why;
    next.why.push_back(fmt::format("half of the nodes of test {}, which failed", test.id));
    if (const auto id = actions_.propose(std::move(next), now)) halves_[*id] = test.id;
  }
}

}  // namespace schedmate::live
