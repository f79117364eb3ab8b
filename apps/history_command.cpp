// SPDX-License-Identifier: Apache-2.0
#include "apps/history_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/history_actions.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

struct Action {
  std::string_view name;
  Result<void> (*run)(const HistoryCall& call);
  std::string_view subject;  ///< what has to follow, "" = nothing
  bool reads_others = false;
};

constexpr std::array actions{
    Action{"add", history_add, "ID"},
    Action{"finish", history_finish, "ID"},
    Action{"import", history_import, "FORMAT:PATH"},
    Action{"list", history_list, "", true},
    Action{"show", history_show, "ID", true},
    Action{"forget", history_forget, "ID"},
    Action{"calibration", history_calibration, "", true},
    Action{"export", history_export, "", true},
};

}  // namespace

std::vector<std::string> history_actions() {
  std::vector<std::string> names;
  for (const Action& each : actions) names.emplace_back(each.name);
  return names;
}

Result<void> history_command(const Session& session, const HistoryRequest& request) {
  const auto* const action = std::ranges::find(actions, request.action, &Action::name);
  if (action == actions.end()) {
    std::array<std::string_view, actions.size()> names;
    std::ranges::transform(actions, names.begin(), &Action::name);
    return fail(ErrorCode::not_found, unknown_name("action", request.action, names));
  }
  if (!action->subject.empty() && request.subject.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("history {}: {} is missing", action->name, action->subject));
  const auto state = open_state(session);
  if (!state) return tl::unexpected(state.error());
  if (action->reads_others && !state->is_operator)
    return fail(ErrorCode::refused,
                fmt::format("history {}: {} belongs to another user; only its owner sees the jobs "
                            "of everybody",
                            action->name, session.state_dir()));
  return action->run({session, request, *state});
}

}  // namespace schedmate
