// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is proposed to be done, and who says that it is needed. Values.

#include <schedmate/action.hpp>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::live {

/// Who takes the steps that no operator takes.
inline const std::string own_name = "schedmate";

/// Somebody besides the job's own log who says that a node is bad.
struct NodeWitness {
  std::string source;  ///< kernel, gpu, scheduler, test: two of one source are one witness
  std::string node;
  SimTime when;
  std::string says;
};

/// How the note of a verified test_nodes begins.
inline constexpr std::string_view test_passed = "passed", test_failed = "failed";

struct Proposal {
  ActionCall call;
  std::vector<std::string> why{};
  std::vector<NodeWitness> witnesses{};
  std::string before{};
  /// Whose job it starts again: for the cap on one user's.
  std::string owner{};
  /// A policy's decision about who runs, or a person's request: caps and breaker are not about it.
  bool of_policy = false;
};

}  // namespace schedmate::live
