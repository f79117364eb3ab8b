// SPDX-License-Identifier: Apache-2.0
/// Which of the nodes that a log blames is it? Where their test fails, each half of them is tested,
/// until the test of a single node has failed: that and the log are two witnesses.
#include <utility>

#include "live/loop.hpp"

namespace schedmate::live {

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

void Loop::follow_test(const Action& test, const Listing& listing, SimTime now) {
  NodeCare::Outcome outcome = care_.follow(test, {listing, actions_, witnesses_, now});
  if (!outcome.remark.empty())
    batch_.remarks.push_back({outcome.remark, now, own_name, outcome.note});
  for (Proposal& each : outcome.proposals) (void)actions_.propose(std::move(each), now);
  // While a node is tested it is not drained.
  if (test.call.text.empty() && actions_.settings().modes.recover != Mode::observe)
    for (const NodeGpus& node : test.call.nodes)
      if (!drain_if_agreed(node.node, now) && test.steps.back().note == test_passed)
        witnesses_.clear(node.node);
}

void Loop::care_for_nodes(const Listing& listing, SimTime now) {
  const NodeCare::View view{listing, actions_, witnesses_, now};
  if (actions_.settings().modes.recover != Mode::observe)
    for (const Proposal& each : care_.due(view))
      if (const auto id = actions_.propose(each, now)) care_.began(each, *id);
  if (!actions_.doubt().empty()) return;
  for (std::string& token : care_.left_over(view)) {
    batch_.remarks.push_back(
        {"a test is over", now, own_name, "what it has left is removed: " + token});
    ends_.push_back(std::move(token));
  }
}

}  // namespace schedmate::live
