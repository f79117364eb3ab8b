// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is done for nodes besides draining them (docs/recovery.md): tests of those that one witness
/// alone speaks against, which of several suspects it is, tests after which a drained node may
/// return, spare nodes in the place of drained ones, and what a test has left. Says what to
/// propose; the rules of acting decide.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/actions.hpp"
#include "live/witnesses.hpp"

namespace schedmate::live {

/// The witnesses that an action's record names of a node, as of when it was planned.
[[nodiscard]] std::vector<NodeWitness> told_before(const Action& action, const std::string& node);

class NodeCare {
 public:
  /// What is there.
  struct View {
    const Listing& listing;
    const Actions& actions;
    const Witnesses& witnesses;
    SimTime now;
  };
  static constexpr Seconds between_flaps{300};

  /// Of a fault that may heal by itself only the second within five minutes counts, for all others
  /// the first.
  [[nodiscard]] bool counts(const NodeWitness& witness);
  /// It alone speaks against the node, which is tested unless another one comes.
  void suspect(const NodeWitness& witness);
  /// Others speak against it, too.
  void settle(const std::string& node) { lonely_.erase(node); }
  /// A test has come to its end: what follows from that, and remarks for the audit chain.
  struct Outcome {
    std::vector<Proposal> proposals{};
    std::string remark{}, note{};
  };
  [[nodiscard]] Outcome follow(const Action& test, const View& view);
  /// What is due besides. Nothing waits any more for what is given.
  [[nodiscard]] std::vector<Proposal> due(const View& view);
  /// The test that this was proposed as.
  void began(const Proposal& proposal, std::int64_t id);
  /// Own tests that are over and have left something, by token. The same one again after a while.
  [[nodiscard]] std::vector<std::string> left_over(const View& view);

  /// Which drain has got which spare, for another process.
  static constexpr std::string_view key = "spares";
  void restore(std::string_view text);
  /// What has changed since the last call; nothing: nothing has.
  [[nodiscard]] std::optional<std::string> take_text();

 private:
  /// A test of nodes of which one or more are suspects.
  struct Trial {
    std::vector<NodeGpus> suspects;
    std::int64_t parent = 0;  ///< the test that these are parts of; 0: none
    std::string partner{};    ///< a good node beside the one suspect
    /// The partner alone: where it passes, this one is bad, by the test that said so.
    std::string accused{}, said{};
    std::vector<NodeGpus> beside{};    ///< with a partner: both of which one is bad, perhaps
    std::vector<std::string> tried{};  ///< partners with which it was not made
  };
  /// What is known of the parts of a test that failed.
  struct Parts {
    std::vector<std::vector<NodeGpus>> passed{};
    std::vector<Trial> failed_with_partner{};
    std::size_t open = 2;
  };
  /// A test that is over, for a while.
  struct Over {
    std::vector<NodeGpus> nodes;
    std::int64_t parent = 0;
    SimTime since;
  };
  struct Waiting {
    Proposal proposal;
    Trial trial;
    SimTime since;
  };
  struct Return {
    SimTime next;
    Seconds wait;
  };

  /// Whether a test of the same nodes is to follow, so that others are kept away until it begins.
  [[nodiscard]] bool goes_on(std::int64_t test, const View& view) const;
  void propose_later(Trial trial, const Action& after, const View& view);
  [[nodiscard]] Outcome follow_return(const Action& test, const View& view);
  [[nodiscard]] Outcome follow_part(Trial trial, const Action& test, bool passed, const View& view);
  [[nodiscard]] static Outcome follow_partner(const Trial& trial, const Action& test, bool passed,
                                              SimTime now);
  Outcome together_only(std::int64_t whole, const Parts& parts, const Action& test,
                        const View& view);
  [[nodiscard]] std::vector<std::string> good_partners(const std::vector<NodeGpus>& suspects,
                                                       const std::vector<std::string>& tried,
                                                       const View& view) const;
  [[nodiscard]] bool tries_another(const Trial& trial, const Action& test, const View& view);
  void split(const Action& test, const View& view);
  void add_suspects(const View& view, std::vector<Proposal>& proposals);
  void add_waiting(const View& view, std::vector<Proposal>& proposals);
  void add_returns(const View& view, std::vector<Proposal>& proposals);
  void add_spares(const View& view, std::vector<Proposal>& proposals);

  std::map<std::string, SimTime, std::less<>> flaps_;       // by node, the last one
  std::map<std::string, NodeWitness, std::less<>> lonely_;  // by node
  std::map<std::int64_t, Trial> trials_;                    // by action
  std::map<std::int64_t, Parts> parts_;                     // by the test of the whole
  std::deque<Waiting> waiting_;                             // for nodes that are busy
  std::map<std::string, Trial, std::less<>> proposed_;      // by nodes, until it began
  std::map<std::int64_t, Return> returns_;                  // by drain
  std::map<std::int64_t, std::string> spares_;              // by drain
  std::map<std::int64_t, Over> over_;                       // tests, until what is left is removed
  std::map<std::string, SimTime, std::less<>> ending_;      // tests, by token
  bool has_news_ = false;
};

}  // namespace schedmate::live
