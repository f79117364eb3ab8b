// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The actions of `schedmate history`, one function each.

#include "apps/advisor_state.hpp"
#include "apps/history_command.hpp"

namespace schedmate {

struct HistoryCall {
  const Session& session;
  const HistoryRequest& request;
  const AdvisorState& state;
};

Result<void> history_add(const HistoryCall& call);
Result<void> history_finish(const HistoryCall& call);
Result<void> history_import(const HistoryCall& call);
Result<void> history_list(const HistoryCall& call);
Result<void> history_show(const HistoryCall& call);
Result<void> history_forget(const HistoryCall& call);
Result<void> history_calibration(const HistoryCall& call);
Result<void> history_export(const HistoryCall& call);

}  // namespace schedmate
