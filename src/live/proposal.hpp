// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is proposed to be done, and who says that it is needed. Values.

#include <cstdint>
#include <schedmate/action.hpp>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "live/node_witness.hpp"

namespace schedmate::live {

/// Who takes the steps that no operator takes.
inline const std::string own_name = "schedmate";

/// How the note of a verified test_nodes begins.
inline constexpr std::string_view test_passed = "passed", test_failed = "failed";

/// What stood before a release_spare.
inline constexpr std::string_view was_spare = "spare";

struct Proposal {
  ActionCall call;
  std::vector<std::string> why{};
  std::vector<NodeWitness> witnesses{};
  std::string before{};
  /// Whose job it starts again: for the cap on one user's.
  std::string owner{};
  /// A policy's decision about who runs, or a person's request: caps and breaker are not about it.
  bool of_policy = false;
  /// The action that it takes back, which stands; 0: none.
  std::int64_t undoes = 0;
};

}  // namespace schedmate::live
