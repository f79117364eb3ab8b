// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <span>

#include "base/text.hpp"
#include "command/pattern.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

constexpr int most_rounds = 64;     ///< of one loop that is unrolled
constexpr int most_unrolled = 512;  ///< of loops within loops
constexpr int most_while_rounds = 200;
constexpr std::int64_t most_counted = 20'000;

}  // namespace

bool Shell::round_ended() {
  if (state_.flow == Flow::on) return false;
  if (state_.flow != Flow::stop_loop && state_.flow != Flow::next_round) return true;
  const bool stops = state_.flow == Flow::stop_loop;
  if (--state_.flow_levels > 0) return true;
  state_.flow = Flow::on;
  return stops;
}

void Shell::forget_assigned(const Statement& statement) {
  const auto forget = [&](std::string_view name, Range where) {
    auto& variable = state_.variables[std::string(name)];
    variable.items = {unknown(fmt::format("${}", name), place(where))};
    variable.array = false;
  };
  for (const auto& range : statement.words) {
    const auto word = text(range);
    if (const auto found = split_assignment(word)) forget(found->name, range);
    if (statement.kind == Kind::arithmetic && name_length(word) > 0)
      forget(word.substr(0, name_length(word)), range);
  }
  if (statement.kind == Kind::loop_over) forget(text(statement.words[0]), statement.words[0]);
  for (const auto& part : statement.parts) forget_assigned(part);
}

/// A body that runs often or perhaps: what it changes is not known before, within and after.
void Shell::once_undecided(const Statement& body, std::int64_t runs) {
  const int before = state_.runs;
  constexpr std::int64_t most_runs = 1'000'000;
  state_.runs = static_cast<int>(std::min(most_runs, before * std::max<std::int64_t>(runs, 1)));
  forget_assigned(body);
  run(body);
  state_.runs = before;
  round_ended();
  forget_assigned(body);
}

namespace {

/// Marks the words of the programs that a loop started once for each of several `items`.
void mark_swept(const std::vector<Text>& items, std::span<Invocation> started) {
  const bool several = std::ranges::any_of(
      items, [&](const Text& item) { return written(item) != written(items.front()); });
  if (!several || started.size() < 2) return;
  const auto is_item = [&](const PlacePtr& place) {
    return place && place->from &&
           std::ranges::any_of(std::views::join(items), [&](const Piece& piece) {
             const PlacePtr& at = piece.place;
             return at && at->file == place->file && at->line == place->line &&
                    at->text == place->text;
           });
  };
  for (Invocation& invocation : started) {
    for (Word& word : invocation.argv) {
      if (!is_item(word.place)) continue;
      Place place = *word.place;
      place.swept = true;
      word.place = std::make_shared<const Place>(std::move(place));
    }
  }
}

}  // namespace

void Shell::run_for(const Statement& statement) {
  const std::string name(text(statement.words[0]));
  std::vector<Text> items;
  if (!statement.lists_items) items = state_.positional;
  for (std::size_t i = 1; i < statement.words.size(); ++i) {
    auto more = expander().fields(text(statement.words[i]), place(statement.words[i]));
    std::ranges::move(more, std::back_inserter(items));
  }
  if (!std::ranges::all_of(items, [](const Text& t) { return known(t); }))
    note_here(fmt::format("the values of '{}' in a loop are not known", name));
  const auto count = static_cast<int>(std::min<std::size_t>(items.size(), 1'000'000));
  if (count > most_rounds || count * unrolled_ > most_unrolled) {
    state_.variables[name].items = {unknown("$" + name, place(statement.words[0]))};
    note_here(fmt::format("a loop of {} iterations was followed once", count));
    return once_undecided(statement.parts[0], count);
  }
  const std::size_t before = made_.invocations.size();
  const int unrolled = unrolled_;
  unrolled_ *= std::max(count, 1);
  for (const auto& item : items) {
    auto& variable = state_.variables[name];
    variable.items = {item};
    variable.array = false;
    run(statement.parts[0]);
    if (round_ended()) break;
  }
  unrolled_ = unrolled;
  mark_swept(items, std::span(made_.invocations).subspan(before));
}

void Shell::run_counted(const Statement& statement) {
  const auto evaluate = [&](std::size_t i) {
    return expander().number(text(statement.words[i]), place(statement.words[i]));
  };
  const bool endless = text(statement.words[1]).find_first_not_of(" \t") == std::string_view::npos;
  // Count first, without the body: how the loop is followed depends on it.
  const State before = state_;
  std::int64_t count = 0;
  evaluate(0);
  auto condition = evaluate(1);
  for (; condition && *condition != 0 && !endless && count < most_counted && charge(1); ++count) {
    evaluate(2);
    condition = evaluate(1);
  }
  state_ = before;
  evaluate(0);
  const bool unclear = !condition || endless || count >= most_counted;
  if (unclear || count > most_rounds || count * unrolled_ > most_unrolled) {
    note_here(unclear ? "how often a loop runs is not known; it was followed once"
                      : fmt::format("a loop of {} iterations was followed once", count));
    const auto name = text(statement.words[0]);
    const std::string variable(name.substr(0, name_length(name)));
    if (!variable.empty())
      state_.variables[variable].items = {unknown("$" + variable, place(statement.words[0]))};
    return once_undecided(statement.parts[0], unclear ? 1 : count);
  }
  const int unrolled = unrolled_;
  unrolled_ *= std::max(static_cast<int>(count), 1);
  for (int i = 0; i < most_while_rounds && evaluate(1).value_or(0) != 0; ++i) {
    run(statement.parts[0]);
    if (round_ended()) break;
    evaluate(2);
  }
  unrolled_ = unrolled;
}

void Shell::run_while(const Statement& statement) {
  const bool until = statement.kind == Kind::loop_until;
  for (int i = 0; i < most_while_rounds; ++i) {
    const std::size_t started = made_.invocations.size();
    run(statement.parts[0]);
    if (state_.flow != Flow::on) return;
    if (state_.status == Truth::unknown) {
      return run_either(Truth::unknown, [&] { once_undecided(statement.parts[1], 1); }, [] {});
    }
    if ((state_.status == Truth::yes) == until) {
      state_.status = Truth::yes;
      return;
    }
    run(statement.parts[1]);
    if (round_ended()) return;
    // `while true` around a training is a restart, not many trainings.
    const auto condition = trim(text(statement.parts[0].range));
    const bool forever = condition.starts_with("true") || condition.starts_with(":");
    if (forever && made_.invocations.size() > started) {
      note_here("an endless loop was followed once");
      return;
    }
  }
  note_here(fmt::format("a loop was left after {} iterations", most_while_rounds));
  forget_assigned(statement.parts[1]);
}

void Shell::run_choice_items(const Statement& statement, const Text& subject, std::size_t from) {
  const auto value = plain(subject);
  const auto fits = [&](Range range) {
    const auto pattern = plain(expander().pattern(text(range), place(range)));
    if (pattern && *pattern == "*") return Truth::yes;
    if (!pattern || !value) return Truth::unknown;
    return matches(*pattern, *value) ? Truth::yes : Truth::no;
  };
  for (std::size_t i = from; i < statement.parts.size(); ++i) {
    Truth all = Truth::no;
    for (const auto& range : statement.patterns[i]) {
      const Truth one = fits(range);
      if (all == Truth::no || one == Truth::yes) all = one;
    }
    if (all == Truth::no) continue;
    const auto run_item = [&] {
      std::size_t last = i;
      while (statement.marks[last] == '&' && last + 1 < statement.parts.size()) ++last;
      for (std::size_t k = i; k <= last; ++k) run(statement.parts[k]);
    };
    if (all == Truth::yes) return run_item();
    if (++depth_ > deepest_block) {
      note_here("too many undecided cases; the rest is left out");
    } else {
      run_either(Truth::unknown, run_item, [&] { run_choice_items(statement, subject, i + 1); });
    }
    --depth_;
    return;
  }
}

}  // namespace schedmate::command
