// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ranges>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t most_stops = 500;

bool is_exit_call(std::string_view text) {
  for (const std::string_view start : {"sys.exit(", "exit(", "quit(", "os._exit("}) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

void Interpreter::execute_block(const Code* block) {
  if (block == nullptr) return;
  for (const Code& child : block->children) {
    if (flow != Flow::next) return;
    execute(child);
  }
}

void Interpreter::execute(const Code& code) {
  if (step() && !execute_compound(code)) execute_simple(code);
}

/// Statements with blocks of their own; false for all others.
bool Interpreter::execute_compound(const Code& code) {
  const Code* name = code.get(Field::name);
  switch (code.kind) {
    case Kind::if_statement: {
      std::vector<const Code*> parts{&code};
      for (const Code& child : code.children) {
        if (child.field == Field::alternative) parts.push_back(&child);
      }
      execute_if(parts, 0);
      return true;
    }
    case Kind::for_statement:
      execute_for(code);
      return true;
    case Kind::while_statement:
      execute_while(code);
      return true;
    case Kind::try_statement:
      execute_try(code);
      return true;
    case Kind::with_statement:
      execute_with(code);
      return true;
    case Kind::match_statement:
      begin_match(code);
      return true;
    case Kind::function:
      if (name != nullptr) set_name(name->text, define_function(code));
      return true;
    case Kind::class_definition:
      if (name != nullptr) set_name(name->text, define_class(code));
      return true;
    case Kind::decorated:
      execute_decorated(code);
      return true;
    case Kind::block:
      execute_block(&code);
      return true;
    default:
      return false;
  }
}

/// A statement that is an expression or an assignment; within a broken part too, as far as the
/// grammar could still make it out.
void Interpreter::execute_expression(const Code& code) {
  if (code.kind == Kind::assignment) {
    execute_assignment(code);
  } else if (code.kind == Kind::augmented_assignment) {
    execute_augmented(code);
  } else if (code.kind == Kind::expression_statement) {
    for (const Code& child : code.children) {
      const bool assigns =
          child.kind == Kind::assignment || child.kind == Kind::augmented_assignment;
      if (assigns) {
        execute_expression(child);
      } else if (child.kind != Kind::string) {
        eval(child);
      }
    }
  } else if (code.kind == Kind::error) {
    for (const Code& child : code.children) execute_expression(child);
  }
}

void Interpreter::execute_simple(const Code& code) {
  auto& scope = *frame().scope;
  switch (code.kind) {
    case Kind::return_statement:
      return execute_return(code);
    case Kind::raise_statement:
      return execute_raise(code);
    case Kind::assert_statement:
      if (!code.children.empty() && truth(eval(*code.first())) == false)
        raise("AssertionError", code);
      return;
    case Kind::delete_statement:
      for (const Code& child : code.children) execute_delete(child);
      return;
    case Kind::break_statement:
      flow = Flow::leave_loop;
      return;
    case Kind::continue_statement:
      flow = Flow::next_round;
      return;
    case Kind::global_statement:
      for (const Code& child : code.children) scope.global_names.push_back(child.text);
      return;
    case Kind::nonlocal_statement:
      for (const Code& child : code.children) scope.nonlocal_names.push_back(child.text);
      return;
    case Kind::import_statement:
      return execute_import(code);
    case Kind::import_from:
      return execute_import_from(code);
    default:
      return execute_expression(code);
  }
}

void Interpreter::execute_return(const Code& code) {
  Value value = code.children.empty() ? Value::none() : Value();
  if (code.children.size() == 1) value = eval(*code.first());
  if (code.children.size() > 1) value = Value::list(eval_items(code), place(code));
  if (flow != Flow::next) return;
  frame().returned = std::move(value);
  flow = Flow::give_back;
}

/// An error that nothing catches ends the program: that is noted, and what would have come after it
/// is looked at all the same, for it shows what the job was meant to do.
void Interpreter::raise(std::string what, const Code& code) {
  if (is_caught(what)) return leave(Flow::raise, std::move(what));
  // A module that cannot be imported is our error, not that of a program which people use.
  const bool importing = std::ranges::any_of(frames | std::views::drop(1), [](const Frame& each) {
    return each.function == nullptr && each.building == nullptr;
  });
  if (!importing && seen_.stops.size() < most_stops)
    seen_.stops.push_back(
        {std::string(code.text.substr(0, 300)), place(code), is_certain(), seen_.calls.size()});
  if (!certain() || frame().maybe_returned) return leave(Flow::raise, std::move(what));
  frame().returned = {};
}

/// Whether nothing but this can have happened in the functions that run: none of them has had an
/// undecided way out before.
bool Interpreter::is_certain() const {
  return certain() && std::ranges::none_of(frames, [](const Frame& each) {
           return each.maybe_returned.has_value();
         });
}

/// An error or exit. Where a way before it may have given something back, that is what happens.
void Interpreter::leave(Flow how, std::string what) {
  flow = how;
  raised = std::move(what);
  if (!frame().maybe_returned) return;
  frame().returned = *frame().maybe_returned;
  frame().maybe_returned.reset();
  flow = Flow::give_back;
}

void Interpreter::throw_error(std::string what) {
  if (guards.empty() || flow != Flow::next) return;
  raised = std::move(what);
  flow = Flow::raise;
}

void Interpreter::execute_raise(const Code& code) {
  if (code.children.empty()) {
    flow = Flow::raise;
    return;
  }
  const Code& what = *code.first();
  const Code* function = what.kind == Kind::call ? what.get(Field::function) : &what;
  const auto name = function == nullptr ? what.text : function->text;
  const auto dot = name.rfind('.');
  const std::string type(dot == std::string_view::npos ? name : name.substr(dot + 1));
  if (type == "NotImplementedError" && frame().function != nullptr) {
    // The method of an abstract base, reached because the class was not known well enough.
    frame().returned = {};
    flow = Flow::give_back;
    return;
  }
  if (type == "SystemExit") {
    stop("SystemExit", place(code));
    return;
  }
  raise(type, code);
}

void Interpreter::refuse(std::string reason, PlacePtr at) {
  if (flow == Flow::next && seen_.stops.size() < most_stops)
    seen_.stops.push_back({std::move(reason), std::move(at), is_certain(), seen_.calls.size()});
}

void Interpreter::stop(std::string reason, PlacePtr at) {
  if (flow != Flow::next) return;
  if (seen_.stops.size() < most_stops)
    seen_.stops.push_back({std::move(reason), std::move(at), is_certain(), seen_.calls.size()});
  leave(Flow::exit, "SystemExit");
}

void Interpreter::execute_delete(const Code& target) {
  if (target.kind == Kind::identifier) {
    const auto& scope = frame().scope;
    if (scope->names.find(target.text) != nullptr) journal.erase(names_of(scope), target.text);
  } else if (target.kind == Kind::subscript) {
    const Code* object = target.get(Field::value);
    const Code* key = target.get(Field::subscript);
    if (object == nullptr || key == nullptr || key->kind == Kind::slice) return;
    const Value of = as_plain(eval(*object));
    const Value name = eval(*key);
    charge(size_of(of));
    if (const auto* dict = std::get_if<DictPtr>(&of.data); dict != nullptr && !name.is_unknown())
      journal.erase(*dict, dict_key(name));
  } else if (target.kind == Kind::attribute) {
    const Code* object = target.get(Field::object);
    const Code* name = target.get(Field::attribute);
    if (object == nullptr || name == nullptr) return;
    const Value of = eval(*object);
    if (auto* thing = as<Thing>(of))
      journal.erase(dict_within(owner_of(of), thing->fields), name->text);
  } else {
    for (const Code& child : target.children) execute_delete(child);
  }
}

namespace {

/// The last statement ends the program: the way that leads here is not the usual one.
bool ends_in_error(const Code* block) {
  if (block == nullptr || block->children.empty()) return false;
  const Code& last = block->children.back();
  if (last.kind == Kind::raise_statement) return true;
  return last.kind == Kind::expression_statement && is_exit_call(last.text);
}

}  // namespace

void Interpreter::execute_if(const std::vector<const Code*>& parts, std::size_t at) {
  if (at >= parts.size() || flow != Flow::next) return;
  const Code& part = *parts[at];
  if (part.kind == Kind::else_clause) {
    execute_block(part.get(Field::body));
    return;
  }
  const Code* condition = part.get(Field::condition);
  const Code* body = part.get(Field::consequence);
  if (condition == nullptr) return;
  const auto decided = truth(eval(*condition));
  if (flow != Flow::next) return;
  if (decided) {
    if (*decided) {
      execute_block(body);
    } else {
      execute_if(parts, at + 1);
    }
    return;
  }
  CertainBranch sure = CertainBranch::neither;
  if (ends_in_error(body)) sure = CertainBranch::second;
  const bool last = at + 2 == parts.size() && parts.back()->kind == Kind::else_clause;
  if (last && ends_in_error(parts.back()->get(Field::body))) sure = CertainBranch::first;
  run_both([&] { execute_block(body); }, [&] { execute_if(parts, at + 1); }, sure);
}

}  // namespace schedmate::python
