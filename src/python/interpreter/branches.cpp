// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {

/// How one way of an undecided branch ended.
struct BranchResult {
  Outcome outcome;
  Flow flow = Flow::next;
  Value returned;
};

BranchResult Interpreter::run_branch_once(const Action& action, bool sure) {
  const Value before = frame().returned;
  journal.begin();
  if (!sure) ++uncertain;
  action();
  if (!sure) --uncertain;
  BranchResult way;
  way.outcome = journal.take_back();
  charge(std::exchange(journal.copied, 0) + way.outcome.entries.size());
  way.flow = flow;
  way.returned = frame().returned;
  flow = Flow::next;
  frame().returned = before;
  return way;
}

void Interpreter::run_both(const Action& then, const Action& other, CertainBranch sure) {
  if (flow != Flow::next) return;
  BranchResult one = run_branch_once(then, sure == CertainBranch::first);
  if (one.flow == Flow::over_budget) {
    journal.apply(one.outcome);
    flow = one.flow;
    return;
  }
  const bool failed = one.flow == Flow::raise || one.flow == Flow::exit;
  BranchResult two = run_branch_once(other, sure == CertainBranch::second || failed);
  merge_branches(one, two);
}

void Interpreter::merge_branches(BranchResult& one, BranchResult& two) {
  const auto ended = [](const BranchResult& way) { return way.flow != Flow::next; };
  const auto gives = [](const BranchResult& way) { return way.flow == Flow::give_back; };
  const auto fails = [](const BranchResult& way) {
    return way.flow == Flow::raise || way.flow == Flow::exit;
  };
  const auto keep_return = [&](const BranchResult& way) {
    auto& maybe = frame().maybe_returned;
    maybe = maybe ? joined(*maybe, way.returned) : way.returned;
  };
  if (two.flow == Flow::over_budget) {
    journal.apply(two.outcome);
    flow = two.flow;
    return;
  }
  if (!ended(one) && !ended(two)) {
    journal.apply_either(one.outcome, two.outcome);
    return;
  }
  // A way that leaves is the exception: what comes after goes on from the other one.
  if (ended(one) != ended(two)) {
    const BranchResult& left = ended(one) ? one : two;
    if (gives(left)) keep_return(left);
    journal.apply(ended(one) ? two.outcome : one.outcome);
    return;
  }
  if (gives(one) && gives(two)) {
    journal.apply_either(one.outcome, two.outcome);
    frame().returned = joined(one.returned, two.returned);
    flow = Flow::give_back;
    return;
  }
  const BranchResult& usual = fails(one) ? two : one;
  const BranchResult& other = fails(one) ? one : two;
  journal.apply(usual.outcome);
  flow = usual.flow;
  if (gives(usual)) frame().returned = usual.returned;
  if (gives(other)) keep_return(other);
}

namespace {

bool only_for_imports(std::string_view types) {
  static constexpr std::string_view harmless[] = {"ImportError", "ModuleNotFoundError",
                                                  "KeyboardInterrupt"};
  if (types.empty()) return false;
  std::string_view rest = types;
  while (!rest.empty()) {
    rest.remove_prefix(std::min(rest.find_first_not_of("(), \n"), rest.size()));
    const auto word = rest.substr(0, rest.find_first_of("(), \n"));
    if (!word.empty() && std::ranges::find(harmless, word) == std::end(harmless)) return false;
    rest.remove_prefix(word.size());
  }
  return true;
}

/// What an except clause names, as written: "(ValueError, KeyError)"; "" for a bare one.
std::string_view caught_types(const Code& clause) {
  for (const Code& child : clause.children) {
    if (child.kind == Kind::block) return "";
    return child.kind == Kind::as_pattern && child.first() != nullptr ? child.first()->text
                                                                      : child.text;
  }
  return "";
}

bool catches(const Code& clause, const std::string& raised) {
  const auto types = caught_types(clause);
  if (types.empty() || types.find("BaseException") != std::string_view::npos) return true;
  if (raised == "SystemExit") return types.find("SystemExit") != std::string_view::npos;
  if (types.find(raised) != std::string_view::npos) return true;
  if (raised == "ModuleNotFoundError" || raised == "ImportError")
    return types.find("ImportError") != std::string_view::npos ||
           types.find("Exception") != std::string_view::npos;
  // A class of the program, or a base that is not known by name: taken to fit.
  return types.find("Error") == std::string_view::npos;
}

const Code* block_of(const Code& clause) {
  if (const Code* body = clause.get(Field::body)) return body;
  for (const Code& child : clause.children) {
    if (child.kind == Kind::block) return &child;
  }
  return nullptr;
}

}  // namespace

bool Interpreter::is_caught(const std::string& what) const {
  return std::ranges::any_of(guards, [&](const Code* guard) {
    return std::ranges::any_of(guard->children, [&](const Code& clause) {
      return (clause.kind == Kind::except_clause || clause.kind == Kind::except_group_clause) &&
             catches(clause, what);
    });
  });
}

bool Interpreter::handle_raise(const Code& code) {
  for (const Code& clause : code.children) {
    if (clause.kind != Kind::except_clause && clause.kind != Kind::except_group_clause) continue;
    if (!catches(clause, raised)) continue;
    flow = Flow::next;
    execute_block(block_of(clause));
    return true;
  }
  return false;
}

void Interpreter::execute_try(const Code& code) {
  const Code* other = nullptr;
  const Code* last = nullptr;
  bool catching = false;
  for (const Code& child : code.children) {
    if (child.kind == Kind::else_clause) other = &child;
    if (child.kind == Kind::finally_clause) last = &child;
    catching = catching || child.kind == Kind::except_clause;
  }
  if (catching) guards.push_back(&code);
  execute_block(code.get(Field::body));
  if (catching) guards.pop_back();
  if (flow == Flow::raise || flow == Flow::exit) {
    handle_raise(code);
  } else if (flow == Flow::next) {
    if (other != nullptr) execute_block(block_of(*other));
    for (const Code& clause : code.children) {
      if (clause.kind != Kind::except_clause || flow != Flow::next) continue;
      if (only_for_imports(caught_types(clause))) continue;
      // Seen, but what it does is not what usually happens.
      const BranchResult way = run_branch_once([&] { execute_block(block_of(clause)); }, false);
      if (way.flow == Flow::over_budget) flow = way.flow;
    }
  }
  if (last == nullptr) return;
  const Flow before = flow;
  flow = Flow::next;
  execute_block(block_of(*last));
  if (flow == Flow::next) flow = before;
}

void Interpreter::execute_with(const Code& code) {
  for (const Code& clause : code.children) {
    if (clause.kind != Kind::with_clause) continue;
    for (const Code& item : clause.children) {
      const Code* value = item.get(Field::value);
      if (value == nullptr) value = item.first();
      if (value == nullptr) continue;
      const bool named = value->kind == Kind::as_pattern && value->children.size() == 2;
      const Value manager = eval(named ? value->children[0] : *value);
      Value entered = manager;
      const List* yielded = manager.items();
      if (yielded != nullptr && yielded->size() == 1) entered = Value((*yielded)[0]);
      const auto* thing = as<Thing>(manager);
      const bool own = thing != nullptr && thing->type_of != nullptr &&
                       find_member(*thing->type_of, "__enter__") != nullptr;
      if (own) entered = call(*special_method(manager, "__enter__"), {});
      if (named && value->children[1].first() != nullptr)
        assign(*value->children[1].first(), std::move(entered));
    }
  }
  execute_block(code.get(Field::body));
}

}  // namespace schedmate::python
