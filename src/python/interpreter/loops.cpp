// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t longest_unrolled = 16;   ///< lists whose items do different things
constexpr std::size_t longest_counted = 2000;  ///< others, where the body is small enough
constexpr std::int64_t small_loop = 96'000;    ///< steps of all rounds of such a body
constexpr std::size_t longest_of_loops = 64;   ///< whose body has loops: a training's epochs
constexpr std::size_t longest_comprehension = 512;
constexpr std::size_t most_loops = 5000;

const Value& inner_of(const Value& iterable) {
  const Value* at = &iterable;
  for (const auto* wrapped = as<Iteration>(*at); wrapped != nullptr; wrapped = as<Iteration>(*at))
    at = &wrapped->inner;
  return *at;
}

bool mentions(std::string_view text, std::string_view name) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || (!part(text[at - 1]) && text[at - 1] != '.');
    const auto end = at + name.size();
    if (starts && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

/// Targets that a round makes from their own old value: `step += 1`, `x = f(x)`.
void find_counters(const Code& code, std::string_view condition, std::vector<const Code*>& found) {
  for (const Code& child : code.children) {
    if (child.kind == Kind::function || child.kind == Kind::class_definition) continue;
    const Code* left = child.get(Field::left);
    const Code* right = child.get(Field::right);
    const bool simple = left != nullptr && right != nullptr &&
                        (left->kind == Kind::identifier || left->kind == Kind::attribute);
    if (simple && child.kind == Kind::augmented_assignment) found.push_back(left);
    const bool again = simple && child.kind == Kind::assignment &&
                       (mentions(right->text, left->text) || mentions(condition, left->text));
    // x = wrap(x) keeps its kind; only arithmetic makes another value each time.
    if (again && (right->kind == Kind::binary || mentions(condition, left->text)))
      found.push_back(left);
    find_counters(child, condition, found);
  }
}

/// What a name was last set to among the statements of a loop: `done = step >= last`.
const Code* set_within(const Code& body, std::string_view name) {
  const Code* found = nullptr;
  for (const Code& child : body.children) {
    const Code* statement = child.kind == Kind::expression_statement ? child.first() : &child;
    if (statement == nullptr || statement->kind != Kind::assignment) continue;
    const Code* left = statement->get(Field::left);
    const Code* right = statement->get(Field::right);
    if (left != nullptr && right != nullptr && left->text == name) found = right;
  }
  return found;
}

/// The comparison of `if a > b: break` among the statements of a loop; nullptr when there is none.
const Code* break_condition(const Code* body) {
  if (body == nullptr) return nullptr;
  for (const Code& child : body->children) {
    const Code* then = child.kind == Kind::if_statement ? child.get(Field::consequence) : nullptr;
    if (then == nullptr) continue;
    for (const Code& statement : then->children) {
      if (statement.kind != Kind::break_statement) continue;
      const Code* condition = child.get(Field::condition);
      const bool named = condition != nullptr && condition->kind == Kind::identifier;
      return named ? set_within(*body, condition->text) : condition;
    }
  }
  return nullptr;
}

const Code* comparison_in(const Code& condition) {
  if (condition.kind == Kind::comparison) return &condition;
  const bool through = condition.kind == Kind::boolean || condition.kind == Kind::parenthesized ||
                       condition.kind == Kind::negation;
  if (!through) return nullptr;
  for (const Code& child : condition.children) {
    if (const Code* found = comparison_in(child)) return found;
  }
  return nullptr;
}

}  // namespace

std::size_t Interpreter::record_loop(const Code& code, const Value& iterable) {
  if (seen_.loops.size() >= most_loops) return most_loops;
  Loop loop;
  const Code* left = code.get(Field::left);
  const Code* right = code.get(Field::right);
  loop.is_while = code.kind == Kind::while_statement;
  if (left != nullptr) loop.target = left->text;
  if (loop.is_while) right = code.get(Field::condition);
  if (right != nullptr) loop.source_text = right->text;
  const Value& inner = inner_of(iterable);
  loop.iterable = inner;
  if (const auto* range = as<Range>(inner)) {
    if (range->first) loop.first = static_cast<double>(*range->first);
    if (range->last) loop.last = static_cast<double>(*range->last);
    loop.bound = range->bound;
  }
  loop.place = place(code);
  loop.function = frame().name;
  loop.certain = certain();
  loop.loops = loops;
  seen_.loops.push_back(std::move(loop));
  return seen_.loops.size() - 1;
}

/// The end of a loop that counts by itself, from the comparison that ends it.
void Interpreter::find_bound(const Code& condition, std::size_t index,
                             const std::vector<std::string>& counters) {
  if (index >= seen_.loops.size() || flow != Flow::next) return;
  const Code* comparison = comparison_in(condition);
  if (comparison == nullptr || comparison->children.size() < 2) return;
  const auto counts = [&](const Code& side) {
    return std::ranges::any_of(counters,
                               [&](const auto& name) { return mentions(side.text, name); });
  };
  const Code& left = comparison->children.front();
  const Code& right = comparison->children.back();
  if (left.field != Field::none || right.field != Field::none) return;
  const Value bound = eval(counts(right) && !counts(left) ? left : right);
  Loop& loop = seen_.loops[index];
  if (!loop.bound.is_unknown() || loop.bound.place) return;
  if (loop.is_while) loop.source_text = condition.text;
  loop.bound = bound;
  if (const auto number = bound.number(); number && bound.text() == nullptr) loop.last = number;
}

/// One round that stands for all: what it changes may have changed or not.
void Interpreter::run_round(const Code& code, std::size_t loop) {
  const Code* body = code.get(Field::body);
  const Code* condition = code.get(Field::condition);
  std::vector<const Code*> counters;
  if (body != nullptr) find_counters(*body, condition == nullptr ? "" : condition->text, counters);
  std::vector<std::string> names;
  const auto yielded = frame().yielded.size();
  journal.begin();
  for (const Code* counter : counters) {
    const Value old = eval(*counter);
    names.emplace_back(counter->text);
    const bool number = old.integer() != nullptr || old.real() != nullptr;
    if (number) assign(*counter, {Unknown{}, old.place});
  }
  if (condition != nullptr) {
    eval(*condition);
    find_bound(*condition, loop, names);
  }
  ++loops;
  execute_block(body);
  --loops;
  if (flow == Flow::leave_loop || flow == Flow::next_round) flow = Flow::next;
  if (const Code* last = break_condition(body)) find_bound(*last, loop, names);
  const Outcome outcome = journal.keep();
  for (const auto& entry : outcome.entries) {
    if (!entry.before || !entry.after || same(*entry.before, *entry.after)) continue;
    journal.set(entry.dict, entry.key, joined(*entry.before, *entry.after));
  }
  for (const auto& items : outcome.lists) {
    if (items.before.size() != items.after.size()) journal.open.insert(items.list);
  }
  if (frame().yielded.size() > yielded) frame().endless = true;
}

/// Runs the body for each item. False when a round of a counted loop turned out too large: then
/// nothing has happened.
bool Interpreter::unroll(const Code& code, const List& items, bool counted) {
  const Code* left = code.get(Field::left);
  const Code* body = code.get(Field::body);
  const auto start = steps_;
  const auto allowed = (limit_ - steps_) / 4;
  const auto calls = seen_.calls.size();
  const auto nested = seen_.loops.size();
  const auto instances = seen_.instances.size();
  const auto stops = seen_.stops.size();
  const auto once = once_.size();
  bool trial = counted && items.size() > 1;
  const auto small_round = small_loop / std::max<std::int64_t>(std::ssize(items), 64);
  if (trial) journal.begin();
  loops += counted ? 1 : 0;
  for (const Value& item : items) {
    if (left != nullptr) assign(*left, item);
    execute_block(body);
    if (flow == Flow::next_round) flow = Flow::next;
    if (trial) {
      trial = false;
      const bool epochs = items.size() > longest_of_loops && seen_.loops.size() > nested;
      if (steps_ - start > small_round || epochs) {
        loops -= 1;
        (void)journal.take_back();
        flow = Flow::next;
        seen_.calls.resize(calls);
        seen_.loops.resize(nested);
        seen_.instances.resize(instances);
        seen_.stops.resize(stops);
        once_.resize(once);
        return false;
      }
      (void)journal.keep();
    }
    if (flow != Flow::next || steps_ - start > allowed) break;
  }
  loops -= counted ? 1 : 0;
  return true;
}

void Interpreter::execute_for(const Code& code) {
  const Code* left = code.get(Field::left);
  const Code* right = code.get(Field::right);
  if (left == nullptr || right == nullptr) return;
  const Value iterable = eval(*right);
  if (flow != Flow::next) return;
  const auto items = iterate(iterable);
  const bool counted = as<Range>(inner_of(iterable)) != nullptr;
  const bool recorded = counted || !items || items->size() > longest_unrolled;
  const auto loop = recorded ? record_loop(code, iterable) : most_loops;
  const bool unrolled = items && items->size() <= longest_counted && unroll(code, *items, recorded);
  if (!unrolled) {
    assign(*left, {Unknown{}, iterable.place});
    run_round(code, loop);
  }
  const bool left_early = flow == Flow::leave_loop;
  if (left_early) flow = Flow::next;
  const Code* other = code.get(Field::alternative);
  if (other != nullptr && !left_early) execute_block(other->get(Field::body));
}

void Interpreter::execute_while(const Code& code) {
  const Code* condition = code.get(Field::condition);
  if (condition == nullptr) return;
  if (truth(eval(*condition)) == false) return;
  if (flow != Flow::next) return;
  // Both sides of the comparison that ends it, before the first round.
  const Code* comparison = comparison_in(*condition);
  const auto number = [&](const Code& side) {
    return side.field == Field::none ? eval(side).number() : std::nullopt;
  };
  const bool compares = comparison != nullptr && comparison->children.size() > 1;
  const auto left = compares ? number(comparison->children.front()) : std::nullopt;
  const auto right = compares ? number(comparison->children.back()) : std::nullopt;
  const std::size_t index = record_loop(code, {});
  run_round(code, index);
  if (index >= seen_.loops.size()) return;
  Loop& loop = seen_.loops[index];
  if (loop.last && left && right) loop.first = *right == *loop.last ? left : right;
}

/// Goes through the clauses of a comprehension; false when it is not known what they give.
bool Interpreter::comprehend(const Code& code, std::size_t clause, const Action& each) {
  if (clause >= code.children.size()) {
    each();
    return flow == Flow::next;
  }
  const Code& here = code.children[clause];
  if (here.kind == Kind::if_clause) {
    if (here.first() == nullptr) return false;
    const auto decided = truth(eval(*here.first()));
    if (decided == false) return true;
    const bool known = comprehend(code, clause + 1, each);
    return known && decided.has_value();
  }
  const Code* left = here.get(Field::left);
  const Code* right = here.get(Field::right);
  if (here.kind != Kind::for_in_clause || left == nullptr || right == nullptr) return false;
  const Value iterable = eval(*right);
  const auto items = iterate(iterable);
  if (!items || items->size() > longest_comprehension) {
    assign(*left, {Unknown{}, iterable.place});
    comprehend(code, clause + 1, each);
    return false;
  }
  bool known = true;
  const auto start = steps_;
  // Few items may each be long: the parts of a model, made by their configs.
  const auto allowed = (limit_ - steps_) / (items->size() <= longest_unrolled ? 2 : 8);
  for (const Value& item : *items) {
    assign(*left, item);
    known = comprehend(code, clause + 1, each) && known;
    if (flow != Flow::next || steps_ - start > allowed) return false;
  }
  return known;
}

Value Interpreter::eval_comprehension(const Code& code) {
  const Code* body = code.get(Field::body);
  if (body == nullptr) return {};
  const ScopePtr before = frame().scope;
  frame().scope = new_scope(before);
  List items;
  Dict entries;
  const bool of_pairs = code.kind == Kind::dictionary_comprehension;
  const std::size_t first = static_cast<std::size_t>(body - code.children.data()) + 1;
  const bool known = comprehend(code, first, [&] {
    const Code* key = of_pairs ? body->get(Field::key) : nullptr;
    const Code* value = of_pairs ? body->get(Field::value) : body;
    if (value == nullptr) return;
    const Value name = key == nullptr ? Value{} : eval(*key);
    Value held = eval(*value);
    if (!of_pairs) {
      items.push_back(std::move(held));
    } else if (!name.is_unknown()) {
      entries.set(dict_key(name), std::move(held));
    }
  });
  frame().scope = before;
  if (!known) return {Unknown{}, place(code)};
  return of_pairs ? Value::dict(std::move(entries), place(code))
                  : Value::list(std::move(items), place(code));
}

}  // namespace schedmate::python
