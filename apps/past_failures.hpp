// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the history says of a failure: where it was seen, and whether a restart is within the caps.

#include <optional>
#include <schedmate/recovery.hpp>
#include <schedmate/store.hpp>

#include "apps/session.hpp"

namespace schedmate {

/// A store, and whether its reader may know the jobs of all users.
struct HistoryView {
  Store& store;
  bool is_operator = false;
};

struct Consulted {
  const JobContext& job;
  std::optional<double> step;  ///< that it had reached
};

/// Adds `seen` and applies the caps of the settings. Errors: those of the store.
[[nodiscard]] Result<void> consult_history(const Session& session, const HistoryView& history,
                                           const Consulted& what, Diagnosis& made);

}  // namespace schedmate
