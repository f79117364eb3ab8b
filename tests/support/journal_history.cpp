// SPDX-License-Identifier: Apache-2.0
#include "tests/support/journal_history.hpp"

#include <fmt/format.h>

#include <set>

#include "tests/support/made_actions.hpp"

namespace schedmate::testing {
namespace {

constexpr std::int64_t jobs = 6;

std::string one_of(Random& random, const char* word, std::int64_t count) {
  return word + std::to_string(random.below(count));
}

ActionCall random_call(Random& random) {
  const auto kind = static_cast<ActionKind>(random.below(action_kinds));
  ActionCall call{.kind = kind, .job = one_of(random, "j", jobs), .text = "text"};
  call.token = one_of(random, "t", jobs);
  for (std::int64_t i = random.below(3); i >= 0; --i)
    call.nodes.push_back({one_of(random, "n", jobs), {}});
  return call;
}

ActionStep random_step(ActionState state, Random& random) {
  return {.state = state,
          .when = at(random.below(1'000)),
          .by = one_of(random, "who", 3),
          .note = std::string(static_cast<std::size_t>(random.below(400)), 'x')};
}

/// A state that may come next.
std::optional<ActionState> random_next(const Action& action, Random& random) {
  std::vector<ActionState> states;
  for (int i = 0; i < action_states; ++i)
    if (const auto state = static_cast<ActionState>(i); may_become(action, state))
      states.push_back(state);
  if (states.empty()) return std::nullopt;
  return states[static_cast<std::size_t>(random.below(std::ssize(states)))];
}

void go_on(Action& action, Random& random) {
  if (const auto next = random_next(action, random))
    action.steps.push_back(random_step(*next, random));
}

/// Takes the action's targets unless another has one.
bool take(std::set<std::string>& taken, const Action& action) {
  if (!is_in_flight(action.state())) return true;
  const auto targets = targets_of(action.call);
  for (const auto& target : targets)
    if (taken.contains(target)) return false;
  taken.insert(targets.begin(), targets.end());
  return true;
}

}  // namespace

JournalContent after(JournalContent content, const journal::Batch& batch) {
  for (const auto& [id, step] : batch.steps) content.actions.at(id).steps.push_back(step);
  for (const Action& action : batch.actions) content.actions[content.next_action++] = action;
  for (journal::Event event : batch.events) {
    event.id = content.next_event++;
    content.events[event.id] = event;
  }
  for (const auto& [name, value] : batch.kept) content.kept[name] = value;
  return content;
}

journal::Batch random_batch(const JournalContent& content, Random& random) {
  journal::Batch batch;
  std::set<std::string> taken;
  for (const auto& [id, old] : content.actions) {
    Action action = old;
    if (random.uniform() < 0.4) go_on(action, random);
    if (action.steps.size() > old.steps.size()) batch.steps.push_back({id, action.steps.back()});
    take(taken, action);
  }
  for (std::int64_t i = random.below(4); i > 0; --i) {
    const std::int64_t id = content.next_action + std::ssize(batch.actions);
    const auto mode = static_cast<Mode>(random.between(1, 3));
    Action action = made_action(id, random_call(random), mode);
    for (std::int64_t steps = random.below(3); steps > 0; --steps) go_on(action, random);
    if (take(taken, action)) batch.actions.push_back(action);
  }
  for (std::int64_t i = random.below(4); i > 0; --i)
    batch.events.push_back({.kind = one_of(random, "kind", 2),
                            .subject = one_of(random, "j", jobs),
                            .body = std::string(static_cast<std::size_t>(random.below(900)), 'y'),
                            .when = at(random.below(1'000))});
  if (random.uniform() < 0.5)
    batch.kept.push_back({one_of(random, "name", 3), one_of(random, "value", 99)});
  if (random.uniform() < 0.2)
    batch.remarks.push_back({.what = "breaker closed", .when = at(9), .by = "ann"});
  return batch;
}

Result<JournalContent> content_of(journal::Journal& journal) {
  constexpr std::size_t all = 1'000'000;
  JournalContent content;
  const auto actions = journal.actions(0, all);
  if (!actions) return tl::unexpected(actions.error());
  for (const Action& action : *actions) content.actions[action.id] = action;
  const auto events = journal.events(0, all);
  if (!events) return tl::unexpected(events.error());
  for (const auto& event : *events) content.events[event.id] = event;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "name" + std::to_string(i);
    const auto value = journal.kept(name);
    if (!value) return tl::unexpected(value.error());
    if (*value) content.kept[name] = **value;
  }
  const auto next = journal.next_action();
  if (!next) return tl::unexpected(next.error());
  content.next_action = *next;
  return content;
}

std::string compaction_fault(const JournalContent& content, const JournalContent& compacted) {
  for (const auto& [id, action] : compacted.actions)
    if (!content.actions.contains(id) || content.actions.at(id) != action)
      return fmt::format("action {} is another one", id);
  for (const auto& [id, action] : content.actions)
    if (!compacted.actions.contains(id) && !is_end(action.call.kind, action.state()))
      return fmt::format("action {} is gone, which is {}", id, name_of(action.state()));
  for (const auto& [id, event] : compacted.events)
    if (!content.events.contains(id) || content.events.at(id) != event)
      return fmt::format("event {} is another one", id);
  for (const auto& [id, event] : content.events)
    if (!compacted.events.contains(id) && !compacted.events.empty() &&
        id > compacted.events.begin()->first)
      return fmt::format("event {} is gone, and an older one is not", id);
  if (compacted.kept != content.kept) return "a value is another one";
  if (compacted.next_action != content.next_action) return "an action's id would come back";
  return "";
}

}  // namespace schedmate::testing
