// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The history as those see it who only read there: opened once it is there, and again after an
/// error. One thread.

#include <optional>
#include <schedmate/store.hpp>
#include <string>
#include <utility>

#include "service/advisor_state.hpp"

namespace schedmate::daemon {

class FoundHistory {
 public:
  explicit FoundHistory(settings::Session session) : session_(std::move(session)) {}

  /// Null: there is none yet. Errors: those of find_history().
  Result<Store*> store() {
    if (!history_) {
      auto found = service::find_history(session_);
      if (!found) return tl::unexpected(found.error());
      history_ = *std::move(found);
    }
    return history_ ? history_->store.get() : nullptr;
  }
  /// After an error of the store.
  void close() { history_.reset(); }

 private:
  settings::Session session_;
  std::optional<service::HistoryAccess> history_;
};

}  // namespace schedmate::daemon
