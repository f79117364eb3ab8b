// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The state that advice stands on: the store of past jobs and the index over their texts.

#include <memory>
#include <optional>
#include <schedmate/caller.hpp>
#include <schedmate/run_answer.hpp>
#include <schedmate/search.hpp>

#include "settings/session.hpp"

namespace schedmate::service {

/// The store of past jobs alone.
struct HistoryAccess {
  std::unique_ptr<Store> store;
  Role role = Role::owner;  ///< operator: the caller owns the state directory
};

/// Makes the state directory (rights 0700) when it is absent and the store is not `memory`. Errors:
/// as open_state().
[[nodiscard]] Result<HistoryAccess> open_history(const settings::Session& session,
                                                 const StoreOptions& options = {});
/// The same for a history that is there; nothing is made.
[[nodiscard]] Result<std::optional<HistoryAccess>> find_history(const settings::Session& session);

/// The same, for what rests on the jobs of all users. Errors: also refused, where the history
/// belongs to another user.
[[nodiscard]] Result<std::optional<HistoryAccess>> find_history_of_all(
    const settings::Session& session);

struct AdvisorState {
  std::unique_ptr<Store> store;
  std::unique_ptr<Embedder> embedder;
  std::unique_ptr<TextIndex> index;
  Role role = Role::owner;  ///< operator: the caller owns the state directory
};

/// Makes the state directory (rights 0700) when it is absent. Errors: unavailable (no rights),
/// invalid (the store is damaged or of a newer version; nothing is changed then).
[[nodiscard]] Result<AdvisorState> open_state(const settings::Session& session);

/// What suggested time limits are bound to. Errors: unsupported (a risk that is none).
[[nodiscard]] Result<LimitPolicy> limit_policy(const settings::Settings& settings);

/// The one that the settings name; secrets are taken out of what it sends. Errors: not_found,
/// invalid (no URL, an unreadable recording or token).
[[nodiscard]] Result<Embedder> open_embedder(const settings::Session& session);

}  // namespace schedmate::service
