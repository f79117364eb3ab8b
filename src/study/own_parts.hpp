// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Policies and estimators that are no rows of ours, but a caller's (src/face). They are called
/// from the thread that replays, never by two threads at once.

#include <algorithm>
#include <schedmate/estimator.hpp>
#include <schedmate/scheduler.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::study {

struct OwnPolicy {
  std::string name;
  Scheduler scheduler;
};

/// By names of their own, which come before those of the rows.
struct OwnParts {
  std::vector<OwnPolicy> policies;
  std::vector<NamedEstimator> estimators;

  [[nodiscard]] bool empty() const { return policies.empty() && estimators.empty(); }
  /// Null for a name that is not among them.
  [[nodiscard]] const Scheduler* find(std::string_view name) const {
    const auto found = std::ranges::find(policies, name, &OwnPolicy::name);
    return found == policies.end() ? nullptr : &found->scheduler;
  }
};

}  // namespace schedmate::study
