// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who says that a node is bad, and when that is enough to take it out of service. Values.

#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <string_view>

namespace schedmate::live {

/// Somebody besides the job's own log who says that a node is bad.
struct NodeWitness {
  std::string source;  ///< kernel, gpu, scheduler, site, test: two of one source are one witness
  std::string node;
  SimTime when;
  std::string says;
  bool may_pass = false;  ///< a fault that may heal by itself, as a link that flaps
  /// An error that was counted, and may have done no harm to anybody.
  bool may_be_harmless = false;
  [[nodiscard]] bool is_weak() const { return may_pass || may_be_harmless; }
};

/// Whether those of them that speak of this node are enough to take it out of service: two sources,
/// of which one is neither weak nor a log, which its user can write as he likes.
[[nodiscard]] bool are_two(std::span<const NodeWitness> witnesses, std::string_view node);

}  // namespace schedmate::live
