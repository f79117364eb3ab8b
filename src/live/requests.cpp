// SPDX-License-Identifier: Apache-2.0
/// What people and programs ask for: submissions and cancellations.
#include <fmt/format.h>

#include <utility>

#include "live/loop.hpp"

namespace schedmate::live {

/// A repeat is answered with the first one's action, once that is safe.
std::optional<Answer> Loop::answered_before(const Requested& event) const {
  Answer answer{event.number, 0, true};
  if (event.call.kind == ActionKind::submit) {
    const auto* const known = event.is_keyed ? submissions_.find(event.call.token) : nullptr;
    if (known == nullptr) return std::nullopt;
    answer.result = known->action;
    if (known->request != Submissions::request_of(event.call))
      answer.result = fail(ErrorCode::conflict,
                           "this idempotency key belongs to another submission; take a new key");
    return answer;
  }
  const Action* const open = actions_.action_on("job " + event.call.job);
  if (open == nullptr || open->call.kind != event.call.kind) return std::nullopt;
  answer.result = open->id;
  return answer;
}

void Loop::take(const Requested& event, SimTime now) {
  if (auto answer = answered_before(event)) return answers_.push_back(std::move(*answer));
  auto action = actions_.request(event.call, event.by, now);
  if (action && event.is_keyed) submissions_.note(event.call, *action, now);
  answers_.push_back({event.number, std::move(action), false});
}

}  // namespace schedmate::live
