// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the history says of a failure: where it was seen, and whether a restart is within the caps.

#include <optional>
#include <schedmate/recovery.hpp>
#include <schedmate/store.hpp>

#include "settings/session.hpp"

namespace schedmate::service {

/// A store, and the role of its reader.
struct HistoryView {
  Store& store;
  Role role = Role::owner;
};

struct HistoryQuery {
  const JobContext& job;
  std::optional<double> step;  ///< that it had reached
};

/// Adds `seen` and applies the caps of the settings. Errors: those of the store.
[[nodiscard]] Result<void> consult_history(const settings::Session& session,
                                           const HistoryView& history, const HistoryQuery& what,
                                           Diagnosis& made);

}  // namespace schedmate::service
