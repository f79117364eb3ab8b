// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Nodes of a replay that are bad for a while: what runs on one meanwhile ends as failed, tests of
/// nodes too. Values.

#include <schedmate/connector.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::replay {

struct BadNode {
  std::string node;
  SimTime from, until;  ///< not bad any more at `until`
  bool operator==(const BadNode&) const = default;
};

/// Of NODE, NODE:FROM_S or NODE:FROM_S:UNTIL_S, in seconds after `first`; without them always.
/// Errors: invalid.
[[nodiscard]] Result<BadNode> read_bad_node(std::string_view text, SimTime first);

/// Whether the job, which has ended, was on one of them while it was bad.
[[nodiscard]] bool ran_on(const std::vector<BadNode>& bad, const SeenJob& job);

}  // namespace schedmate::replay
