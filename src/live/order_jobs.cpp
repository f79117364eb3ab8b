// SPDX-License-Identifier: Apache-2.0
/// Who goes first where the cluster starts jobs itself (ordering.hpp).
#include <utility>

#include "live/loop.hpp"

namespace schedmate::live {

void Loop::order_jobs(const std::vector<Change>& changes, bool is_first, SimTime now) {
  if (!ordering_) return;
  using enum Change::Kind;
  if (is_first)
    for (const auto& [id, attempt] : jobs_.all())
      if (attempt.seen.phase == JobPhase::queued)
        ordering_->enter(known(attempt), attempt.seen, now);
  for (const Change& change : changes) {
    const Attempt& attempt = change.attempt;
    const SeenJob& seen = attempt.seen;
    if (change.kind == altered && actions_.settings().rules.leaves_orders)
      ordering_->alter(attempt.number, change.before, seen);
    // Who came and started since the last reading is told of in another order, and waits no more.
    if (const Attempt* const is = jobs_.find(seen.id); change.kind == arrived && is != nullptr &&
                                                       is->number == attempt.number &&
                                                       is->seen.phase == JobPhase::queued)
      ordering_->enter(known(*is), is->seen, now);
    if (change.kind != started && change.kind != ended && change.kind != vanished) continue;
    ordering_->leave(attempt.number);
    const bool ran = change.kind == ended && seen.end_state != EndState::requeued && seen.started;
    if (ran && seen.ended)
      ordering_->learn(seen.partition,
                       {known(attempt), *seen.ended, *seen.ended - *seen.started, seen.end_state});
  }
  for (const std::string& id : jobs_.forgotten()) ordering_->forget(id);
  if (actions_.settings().modes.order != Mode::observe) propose_orders(now);
  for (auto& [key, text] : ordering_->take_kept()) batch_.kept.push_back({key, std::move(text)});
}

void Loop::propose_orders(SimTime now) {
  const auto advice = [this](const std::string& id) { return advice_on(id); };
  for (Ordering::Wish& wish : ordering_->wishes(now, advice)) {
    const Attempt* const attempt = jobs_.find(wish.id);
    if (attempt == nullptr || attempt->number != wish.number) continue;
    Proposal proposal;
    proposal.of_policy = true;
    proposal.call = {.kind = ActionKind::set_order,
                     .job = wish.id,
                     .submitted = attempt->seen.submitted,
                     .restarts = attempt->seen.restarts};
    proposal.call.order = wish.order;
    proposal.why = {std::move(wish.why)};
    proposal.before = std::to_string(attempt->seen.order);
    const bool leaves = actions_.mode_of(Area::order) >= Mode::approve;
    if (actions_.propose(std::move(proposal), now) && leaves)
      ordering_->sets(wish.id, attempt->seen.submitted, wish.order);
  }
}

}  // namespace schedmate::live
