// SPDX-License-Identifier: Apache-2.0
#include "journal/change.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/action_json.hpp"

namespace schedmate::journal {
namespace {

using sqlite::Database;
using sqlite::Query;

constexpr std::size_t longest_text = std::size_t{64} << 10;
constexpr std::size_t longest_step = std::size_t{4} << 10;
constexpr std::size_t longest_kept = std::size_t{1} << 20;

Result<void> check_length(std::size_t length, std::size_t longest, const std::string& what) {
  if (length <= longest) return {};
  return fail(ErrorCode::invalid,
              fmt::format("journal: {} has {} bytes, at most {} are kept", what, length, longest));
}

Result<Action> stored_action(Database& database, std::int64_t id) {
  Query query(database, "SELECT body FROM actions WHERE id = ?");
  if (query.bind(id).next()) return read_action(query.text(0));
  return fail(ErrorCode::not_found, fmt::format("journal: there is no action {}", id));
}

Result<void> take_targets(Database& database, const Action& action) {
  for (const std::string& target : targets_of(action.call)) {
    Query(database, "INSERT INTO targets VALUES (?, ?) ON CONFLICT DO NOTHING")
        .bind(target)
        .bind(action.id)
        .run();
    if (database.failed() || database.changes() == 1) continue;
    Query holder(database, "SELECT action FROM targets WHERE target = ?");
    const std::int64_t other = holder.bind(target).next() ? holder.integer(0) : 0;
    if (other == action.id) continue;  // it names a node twice
    return fail(ErrorCode::conflict,
                fmt::format("journal: action {} may not change \"{}\": action {} is about to",
                            action.id, target, other));
  }
  return {};
}

void free_targets(Database& database, const Action& action) {
  for (const std::string& target : targets_of(action.call))
    Query(database, "DELETE FROM targets WHERE target = ? AND action = ?")
        .bind(target)
        .bind(action.id)
        .run();
}

/// `sequence`: of its last entry in the chain.
void store_action(Database& database, const Action& action, std::int64_t sequence) {
  const std::string body = in_one_line(action_document(action));
  Query(database, "INSERT OR REPLACE INTO actions VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(action.id)
      .bind(name_of(action.call.kind))
      .bind(name_of(action.state()))
      .bind(std::int64_t{is_end(action.call.kind, action.state())})
      .bind(sequence)
      .bind(seconds_of(action.steps.back().when))
      .bind(body)
      .run();
}

Result<void> go_on(Action& action, const ActionStep& step) {
  if (!may_become(action, step.state))
    return fail(ErrorCode::invalid,
                fmt::format("journal: action {} ({}, mode {}) is {} and cannot become {}",
                            action.id, name_of(action.call.kind), name_of(action.mode),
                            name_of(action.state()), name_of(step.state)));
  action.steps.push_back(step);
  return check_length(step.by.size() + step.note.size(), longest_step,
                      fmt::format("who and what was seen of action {}", action.id));
}

void keep(OpenActions& open, Action action) {
  if (is_end(action.call.kind, action.state()))
    open.erase(action.id);
  else
    open.insert_or_assign(action.id, std::move(action));
}

Result<void> write_step(Database& database, const NewStep& next, NewEntries& entries,
                        OpenActions& open) {
  const auto known = open.find(next.action);
  auto action = known == open.end() ? stored_action(database, next.action)
                                    : Result<Action>(std::move(known->second));
  if (!action) return tl::unexpected(action.error());
  if (auto fits = go_on(*action, next.step); !fits) return fits;
  if (!is_in_flight(action->state())) free_targets(database, *action);
  store_action(database, *action, entries.add(*action));
  keep(open, std::move(*action));
  return {};
}

/// What an undo takes back is in force.
Result<void> check_undo(Database& database, const Action& action) {
  if (action.undoes == 0) return {};
  const auto other = stored_action(database, action.undoes);
  if (!other) return tl::unexpected(other.error());
  if (may_follow(other->call.kind, other->state(), ActionState::undone)) return {};
  return fail(ErrorCode::invalid,
              fmt::format("journal: action {} cannot be undone: {}, {}", other->id,
                          name_of(other->call.kind), name_of(other->state())));
}

Result<void> write_action(Database& database, const Action& given, NewEntries& entries,
                          OpenActions& open) {
  std::int64_t next = 0;
  if (Query query(database, "SELECT next_action FROM state"); query.next()) next = query.integer(0);
  if (given.id != next)
    return fail(ErrorCode::invalid,
                fmt::format("journal: a new action has id {}, next is {}", given.id, next));
  if (given.steps.empty() || given.steps.front().state != ActionState::planned)
    return fail(ErrorCode::invalid, fmt::format("journal: action {} was not planned", given.id));
  Query(database, "UPDATE state SET next_action = next_action + 1").run();
  if (auto fine = check_undo(database, given); !fine) return fine;
  Action plan = given;
  plan.steps.resize(1);
  const std::string body = in_one_line(action_document(plan));
  if (auto fits = check_length(body.size(), longest_text, fmt::format("action {}", given.id));
      !fits)
    return fits;
  auto action = read_action(body);  // its targets are freed as they are read back
  if (!action) return tl::unexpected(action.error());
  std::int64_t sequence = entries.add(*action);
  for (std::size_t i = 1; i < given.steps.size(); ++i) {
    if (auto fits = go_on(*action, given.steps[i]); !fits) return fits;
    sequence = entries.add(*action);
  }
  if (is_in_flight(action->state()))
    if (auto taken = take_targets(database, *action); !taken) return taken;
  store_action(database, *action, sequence);
  keep(open, std::move(*action));
  return {};
}

Result<void> write_event(Database& database, const Event& event) {
  const std::size_t length = event.kind.size() + event.subject.size() + event.body.size();
  if (auto fits = check_length(length, longest_text, "an event"); !fits) return fits;
  Query(database, "INSERT INTO events (kind, subject, body, when_s) VALUES (?, ?, ?, ?)")
      .bind(event.kind)
      .bind(event.subject)
      .bind(event.body)
      .bind(seconds_of(event.when))
      .run();
  return {};
}

Result<void> write_kept(Database& database, const Kept& kept) {
  if (auto fits = check_length(kept.name.size() + kept.value.size(), longest_kept,
                               "kept value " + kept.name.substr(0, 40));
      !fits)
    return fits;
  if (kept.value.empty()) {
    Query(database, "DELETE FROM kept WHERE name = ?").bind(kept.name).run();
    return {};
  }
  Query(database, "INSERT OR REPLACE INTO kept VALUES (?, ?)")
      .bind(kept.name)
      .bind(kept.value)
      .run();
  return {};
}

/// Calls `write` for each until one fails.
template <class Values, class Write>
Result<void> each(const Values& values, const Write& write) {
  for (const auto& value : values)
    if (auto written = write(value); !written) return written;
  return {};
}

}  // namespace

Result<void> write_batch(Database& database, const Batch& batch, NewEntries& entries,
                         OpenActions& open) {
  return each(batch.steps,
              [&](const NewStep& step) { return write_step(database, step, entries, open); })
      .and_then([&] {
        return each(batch.actions, [&](const Action& action) {
          return write_action(database, action, entries, open);
        });
      })
      .and_then([&] {
        return each(batch.remarks, [&](const Remark& remark) -> Result<void> {
          const auto length = remark.what.size() + remark.by.size() + remark.note.size();
          if (auto fits = check_length(length, longest_text, "a remark"); !fits) return fits;
          entries.add({.when = remark.when, .by = remark.by, .note = remark.note}, remark.what,
                      Document::object());
          return {};
        });
      })
      .and_then([&] {
        return each(batch.events, [&](const Event& event) { return write_event(database, event); });
      })
      .and_then([&] {
        return each(batch.kept, [&](const Kept& kept) { return write_kept(database, kept); });
      });
}

}  // namespace schedmate::journal
