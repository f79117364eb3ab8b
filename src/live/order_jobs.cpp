// SPDX-License-Identifier: Apache-2.0
/// Who goes first where the cluster starts jobs itself (ordering.hpp).
#include <fmt/format.h>

#include <string_view>
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
  propose_notes(now);
  for (auto& [key, text] : ordering_->take_kept()) batch_.kept.push_back({key, std::move(text)});
}

void Loop::learn_past(const std::vector<SeenJob>& runs) {
  if (!ordering_) return;
  for (const SeenJob& run : runs) {
    const Attempt* const followed = jobs_.find(run.id);
    const bool is_told = followed != nullptr && followed->seen.submitted == run.submitted;
    if (is_told || !run.started || !run.ended || run.gpus < 1) continue;
    Attempt attempt;
    attempt.seen = run;
    ordering_->learn(run.partition,
                     {known(attempt), *run.ended, *run.ended - *run.started, run.end_state});
  }
}

/// What is expected of jobs, for people who look at them in the cluster; after their orders, since
/// there is one action about a job at a time. Nobody else's words are written over, but for the tag
/// of our own hook.
void Loop::propose_notes(SimTime now) {
  constexpr std::string_view tag = "schedmate-tag=", own = "schedmate: ";
  constexpr int most_at_once = 20;
  int made = 0;
  std::erase_if(notes_due_, [&](const auto& due) {
    const Attempt* const attempt = jobs_.find(due.first);
    if (attempt == nullptr || attempt->seen.phase != JobPhase::queued) return true;
    const std::string& note = attempt->seen.note;
    const bool is_tag = note.starts_with(tag) && !note.contains(' ') && !note.contains('\n');
    if (!note.empty() && !is_tag) return true;
    if (made >= most_at_once) return false;
    Proposal proposal;
    proposal.call = {.kind = ActionKind::annotate,
                     .job = due.first,
                     .submitted = attempt->seen.submitted,
                     .restarts = attempt->seen.restarts};
    proposal.call.text = fmt::format("{}{}{}{}", note, is_tag ? " " : "", own, due.second);
    proposal.why = {due.second};
    proposal.before = note;
    if (!actions_.propose(std::move(proposal), now)) return false;  // another one is about it
    ++made;
    return true;
  });
}

void Loop::propose_orders(SimTime now) {
  const auto advice = [this](const std::string& id) { return advice_on(id); };
  for (Ordering::Wish& wish : ordering_->wishes(now, advice)) {
    const Attempt* const attempt = jobs_.find(wish.id);
    if (attempt == nullptr || attempt->number != wish.number) continue;
    if (wish.known && actions_.mode_of(Area::annotate) >= Mode::approve)
      notes_due_[wish.id] = wish.why;
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
