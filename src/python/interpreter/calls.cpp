// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "python/interpreter/interpreter.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t deepest_calls = 60;
constexpr int most_nested = 12;         ///< of one function within itself
constexpr int most_nested_unsure = 3;   ///< where it may not be called at all
constexpr int most_calls = 200;         ///< of a function that takes many steps
constexpr std::int64_t most_share = 8;  ///< such a one has used an eighth of all steps
constexpr std::size_t most_records = 30'000;

bool is_data(const Value& value) {
  return value.object() == nullptr && !value.is_unknown() && !value.is_none();
}

/// "pydantic.BaseModel().dict" -> "pydantic.BaseModel.dict": natives have methods as functions.
std::string without_parentheses(std::string name) {
  if (const auto at = name.find("()"); at != std::string::npos) name.erase(at, 2);
  return name;
}

}  // namespace

Arguments Interpreter::eval_arguments(const Code* list, PlacePtr at) {
  Arguments arguments;
  arguments.place = std::move(at);
  if (list == nullptr) return arguments;
  if (list->kind == Kind::generator_expression) {
    arguments.positional.push_back(eval(*list));
    return arguments;
  }
  for (const Code& child : list->children) {
    if (child.kind == Kind::keyword_argument) {
      const Code* name = child.get(Field::name);
      const Code* value = child.get(Field::value);
      if (name != nullptr && value != nullptr) arguments.named.set(name->text, eval(*value));
    } else if (child.kind == Kind::list_splat) {
      if (auto items = iterate(eval(child))) {
        std::ranges::move(*items, std::back_inserter(arguments.positional));
      } else {
        arguments.complete = false;
      }
    } else if (child.kind == Kind::dictionary_splat && child.first() != nullptr) {
      const Value spread = as_plain(eval(*child.first()));
      arguments.complete = arguments.complete && spread.entries() != nullptr;
      if (const Dict* entries = spread.entries()) {
        for (const auto& [key, value] : entries->all()) arguments.named.set(key, value);
      }
    } else {
      arguments.positional.push_back(eval(child));
    }
  }
  return arguments;
}

Value Interpreter::eval_call(const Code& code) {
  const Code* function = code.get(Field::function);
  if (function == nullptr) return {};
  Callee callee;
  const Code* object = function->get(Field::object);
  const Code* name = function->get(Field::attribute);
  if (function->kind == Kind::attribute && object != nullptr && name != nullptr &&
      object->text != "_base_") {
    callee.name = name->text;
    callee.self = eval(*object);
    if (const Value* only = callee.self.is_unknown() ? only_object(callee.self) : nullptr)
      callee.self = Value(*only);
    if (!is_data(callee.self)) callee.function = attribute(callee.self, name->text);
  } else {
    callee.name = function->kind == Kind::identifier ? function->text : "";
    callee.function = eval(*function);
  }
  Arguments arguments = eval_arguments(code.get(Field::arguments), place(code));
  if (flow != Flow::next) return {};
  Value result;
  if (is_data(callee.self)) {
    result = call_method_of_data(callee, arguments);
  } else if (callee.function.is_unknown() && possibilities(callee.function).empty()) {
    result = call_unknown(callee, arguments);
  } else {
    result = call(callee.function, std::move(arguments));
  }
  if (!result.place) result.place = place(code);
  return result;
}

/// The object is of several kinds, or of none that is known.
Value Interpreter::call_unknown(const Callee& callee, const Arguments& arguments) {
  const auto all = possibilities(callee.self);
  if (all.empty() || callee.name.empty()) return record("?." + callee.name, arguments);
  ++uncertain;
  std::optional<Value> result;
  for (const Value& self : all) {
    if (self.object() == nullptr) continue;
    const Value each = call(attribute(self, callee.name), arguments);
    result = result ? joined(*result, each) : each;
  }
  --uncertain;
  return result ? *result : record("?." + callee.name, arguments);
}

Value Interpreter::call(const Value& callable, Arguments arguments) {
  if (!step()) return {};
  if (callable.is_unknown()) return call_any(callable, arguments);
  if (as<Function>(callable) != nullptr)
    return call_function(owner_of(callable), std::move(arguments));
  if (const auto* bound = as<BoundMethod>(callable)) {
    const Value function = bound->function;
    arguments.positional.insert(arguments.positional.begin(), bound->self);
    return call(function, std::move(arguments));
  }
  if (as<Class>(callable) != nullptr) return instantiate(owner_of(callable), std::move(arguments));
  if (const auto* symbol = as<Symbol>(callable)) {
    const Value kept = callable;  // NOLINT(performance-unnecessary-copy-initialization): lives on
    return call_outside(*symbol, std::move(arguments));
  }
  if (auto* native = as<NativeFunction>(callable)) {
    const Value kept = callable;  // NOLINT(performance-unnecessary-copy-initialization): lives on
    return native->run(*this, arguments);
  }
  if (const auto* partial = as<Partial>(callable)) {
    Arguments all = partial->arguments;
    all.place = arguments.place;
    all.complete = all.complete && arguments.complete;
    std::ranges::move(arguments.positional, std::back_inserter(all.positional));
    for (const auto& [key, value] : arguments.named.all()) all.named.set(key, value);
    return call(Value(partial->callable), std::move(all));
  }
  if (as<Thing>(callable) != nullptr) return call_thing(callable, std::move(arguments));
  if (const auto* made = as<Made>(callable)) return record(made->callee + "().__call__", arguments);
  if (auto* object = as<NativeObject>(callable)) {
    if (auto method = object->attribute(*this, "__call__")) return call(*method, arguments);
  }
  if (auto* descriptor = as<Descriptor>(callable)) return call(descriptor->function, arguments);
  return {};
}

Value Interpreter::call_any(const Value& callable, const Arguments& arguments) {
  const auto all = possibilities(callable);
  if (all.empty()) {
    const Value* only = only_object(callable);
    return only == nullptr ? record("?", arguments) : call(Value(*only), arguments);
  }
  std::optional<Value> result;
  ++uncertain;
  for (const Value& each : all) {
    if (each.object() == nullptr) continue;
    const Value one = call(each, arguments);
    result = result ? joined(*result, one) : one;
  }
  --uncertain;
  return result ? *result : Value{};
}

Value Interpreter::call_thing(const Value& self, Arguments arguments) {
  auto* type = as<Thing>(self)->type_of;
  if (type == nullptr) return record("?.__call__", arguments);
  if (const Value* own = find_member(*type, "__call__"))
    return call(bind(*own, self, type), std::move(arguments));
  for (const std::string_view name : {"forward", "call"}) {
    const Value* member = find_member(*type, name);
    if (member == nullptr || as<Function>(*member) == nullptr) continue;
    // What a network computes says little about the job: once, and for a small share of the steps.
    auto& function = *as<Function>(*member);
    if (!first_time(&function)) return {};
    const auto before = limit_;
    limit_ = std::min(limit_, steps_ + run_.steps / 40);
    Value result = call(bind(*member, self, type), std::move(arguments));
    limit_ = before;
    if (flow == Flow::over_budget && steps_ <= limit_) flow = Flow::next;
    return result;
  }
  if (type->outside.empty()) return {};
  return record(type->outside.front() + "().__call__", arguments);
}

void bind_parameters(const Function& function, const Arguments& given, Dict& names) {
  std::size_t position = 0;
  std::vector<std::string_view> taken;
  for (const Parameter& parameter : function.parameters) {
    const Value* named = given.named.find(parameter.name);
    if (parameter.kind == Parameter::Kind::star) {
      List rest;
      for (; position < given.positional.size(); ++position)
        rest.push_back(given.positional[position]);
      names.set(parameter.name, Value::list(std::move(rest), given.place));
      continue;
    }
    if (parameter.kind == Parameter::Kind::double_star) {
      Dict rest;
      for (const auto& [key, value] : given.named.all()) {
        if (std::ranges::find(taken, key) == taken.end()) rest.set(key, value);
      }
      names.set(parameter.name, Value::dict(std::move(rest), given.place));
      continue;
    }
    taken.push_back(parameter.name);
    const bool by_position =
        parameter.kind == Parameter::Kind::plain && position < given.positional.size();
    if (by_position) {
      names.set(parameter.name, given.positional[position++]);
    } else if (named != nullptr) {
      names.set(parameter.name, *named);
    } else if (parameter.fallback && given.complete) {
      names.set(parameter.name, *parameter.fallback);
    } else {
      names.set(parameter.name, parameter.fallback ? joined(*parameter.fallback, {}) : Value{});
    }
  }
}

Value Interpreter::call_function(const std::shared_ptr<Object>& object, Arguments arguments) {
  auto& function = static_cast<Function&>(*object);
  const bool costly = function.spent > run_.steps / most_share;
  if (function.active >= (certain() ? most_nested : most_nested_unsure) ||
      (costly && function.calls >= most_calls))
    return {};
  if (frames.size() > deepest_calls) {
    tree_.degrade("calls nested too deeply were left out");
    return {};
  }
  Frame next;
  next.scope = new_scope(function.closure);
  bind_parameters(function, arguments, next.scope->names);
  next.function = &function;
  next.name = function.name;
  if (function.owner != nullptr) {
    next.class_name = function.owner->name;
    if (!arguments.positional.empty()) next.self = arguments.positional.front();
  }
  ++function.calls;
  ++function.active;
  const auto before = limit_;
  const auto start = steps_;
  // A function may not use up what the code after it needs.
  limit_ = std::min(limit_, steps_ + std::max<std::int64_t>((limit_ - steps_) / 4 * 3, 0));
  frames.push_back(std::move(next));
  const Code* body = function.code->get(Field::body);
  if (function.code->kind == Kind::lambda) {
    if (body != nullptr) frame().returned = eval(*body);
  } else {
    execute_block(body);
  }
  const Frame done = std::move(frames.back());
  frames.pop_back();
  limit_ = before;
  if (--function.active == 0) function.spent += steps_ - start;
  return result_of(function, done);
}

Value Interpreter::result_of(const Function& function, const Frame& done) {
  if (flow == Flow::over_budget && steps_ <= limit_) {
    tree_.degrade(
        fmt::format("{} takes too many steps: the rest of it was left out", function.name));
    flow = Flow::next;
    return done.maybe_returned.value_or(Value{});
  }
  const bool failed = flow == Flow::raise || flow == Flow::exit;
  if (failed && done.maybe_returned) {
    flow = Flow::next;
    return *done.maybe_returned;
  }
  if (failed || flow == Flow::over_budget) return {};
  const bool fell_through = flow == Flow::next;
  flow = Flow::next;
  if (done.endless || !done.yielded.empty())
    return done.endless ? Value{} : Value::list(done.yielded);
  if (!done.maybe_returned) return done.returned;
  // Early ways out that gave something, and an end that gives nothing: what was given.
  if (fell_through && function.code->kind != Kind::lambda) return *done.maybe_returned;
  return joined(done.returned, *done.maybe_returned);
}

Value Interpreter::record(std::string callee, const Arguments& arguments) {
  for (const Value& given : arguments.positional) {
    if (auto* object = as<NativeObject>(given)) object->handed_out();
  }
  auto made = std::make_shared<MadeThing>();
  made->callee = std::move(callee);
  made->call = seen_.calls.size();
  if (seen_.calls.size() >= most_records) {
    tree_.degrade("too many calls: the later ones were left out");
    return wrap(std::move(made), arguments.place);
  }
  Call call;
  call.callee = made->callee;
  call.args = arguments.positional;
  call.named = arguments.named;
  call.place = arguments.place;
  call.function = frame().name;
  call.inside_class = frame().class_name;
  call.certain = certain();
  call.complete = arguments.complete;
  call.loops = loops;
  seen_.calls.push_back(std::move(call));
  if (made->callee.starts_with("?")) return {Unknown{}, arguments.place};
  return wrap(std::move(made), arguments.place);
}

/// Lightning's save_hyperparameters(): the arguments of __init__ as self.hparams.
void Interpreter::keep_parameters(const Value& self, const Arguments& arguments) {
  if (frame().function == nullptr) return;
  Value kept = Value::dict({}, arguments.place);
  for (const Parameter& parameter : frame().function->parameters) {
    const Value* value = frame().scope->names.find(parameter.name);
    if (value == nullptr || value->object() == self.object()) continue;
    const Dict* spread =
        parameter.kind == Parameter::Kind::double_star ? value->entries() : nullptr;
    if (spread == nullptr) {
      kept.entries()->set(parameter.name, *value);
      continue;
    }
    for (const auto& [key, each] : spread->all()) kept.entries()->set(key, each);
  }
  // save_hyperparameters(config): that object is the whole.
  const Value* given = arguments.positional.size() == 1 ? arguments.positional.data() : nullptr;
  const bool whole = given != nullptr && given->text() == nullptr && given->items() == nullptr;
  set_attribute(self, "hparams", whole ? *given : kept);
}

Value Interpreter::call_outside(const Symbol& symbol, Arguments arguments) {
  const auto* method = dynamic_cast<const OutsideMethod*>(&symbol);
  if (method == nullptr) {
    if (const Native* builtin = find_builtin(symbol.name)) return (*builtin)(*this, arguments);
    // A native calls what it is given by itself: no hooks.
    if (const Native* native = natives::find_native(symbol.name))
      return (*native)(*this, arguments);
  } else if (const auto* dict = as<Thing>(method->self); dict != nullptr && is_dict(*dict)) {
    return call_method_of_dict(*method, arguments);
  } else if (const Native* native = natives::find_native(without_parentheses(symbol.name))) {
    arguments.positional.insert(arguments.positional.begin(), method->self);
    return (*native)(*this, arguments);
  }
  const std::string name = symbol.name;
  const Value self = method == nullptr ? Value{} : method->self;
  if (name.ends_with("().save_hyperparameters")) keep_parameters(self, arguments);
  if (name == "torch.distributed.init_process_group") natives::note_process_group(*this, arguments);
  Value made = record(name, arguments);
  auto given = run_hooks(name, self, arguments);
  return given ? std::move(*given) : made;
}

}  // namespace schedmate::python
