// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "python/interpreter/interpreter.hpp"
#include "python/natives/support.hpp"
#include "python/natives/table.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t longest_name = 120;

std::string attribute_name(std::string_view of, std::string_view name) {
  // a().b().c()... stays readable and bounded: the middle is left out.
  if (of.size() < longest_name) return fmt::format("{}.{}", of, name);
  const auto end = of.find("()");
  return fmt::format("{}.{}", of.substr(0, end == std::string_view::npos ? end : end + 2), name);
}

std::optional<Value> base_attribute(Interpreter& in, const Thing& thing, std::string_view name) {
  const Value* held = thing.fields.find(base_field);
  auto* base = held == nullptr ? nullptr : as<NativeObject>(*held);
  return base == nullptr ? std::nullopt : base->attribute(in, name);
}

/// The network that DistributedDataParallel and its like were given; nullptr for all else.
const Value* wrapped_network(const Observation& seen, const Made& made) {
  if (!made.callee.ends_with("DataParallel") || made.call >= seen.calls.size()) return nullptr;
  const Call& call = seen.calls[made.call];
  const Value* inner = call.args.empty() ? call.named.find("module") : call.args.data();
  return inner != nullptr && inner->object() != nullptr ? inner : nullptr;
}

/// The dotted name of the module that a scope belongs to.
Value module_of(const Scope& scope) {
  const Scope& globals = scope.globals ? *scope.globals : scope;
  const Value* name = globals.names.find("__name__");
  return name == nullptr ? Value{} : *name;
}

Value function_attribute(const Function& function, std::string_view name) {
  if (const Value* found = function.attributes.find(name)) return *found;
  if (name == "__name__" || name == "__qualname__") return Value(function.name);
  if (name == "__module__" && function.closure) return module_of(*function.closure);
  return {};
}

/// What frameworks' objects say of the processes of the job, seen from the first of them.
std::optional<Value> of_processes(const PythonRun& run, std::string_view name) {
  static constexpr std::string_view first[] = {"is_main_process", "is_local_main_process",
                                               "is_global_zero", "is_world_process_zero"};
  static constexpr std::string_view ranks[] = {"process_index", "local_process_index",
                                               "global_rank", "local_rank"};
  if (std::ranges::find(first, name) != std::end(first)) return Value(true);
  if (std::ranges::find(ranks, name) != std::end(ranks)) return whole(0);
  // TensorFlow's strategies.
  const bool replicas = name == "num_replicas_in_sync";
  if (name != "world_size" && name != "num_processes" && !replicas) return std::nullopt;
  const std::int64_t gpus = std::int64_t{run.gpus_per_node} * run.nodes;
  // Lightning and its like start the processes themselves.
  if (name == "num_processes") return natives::from_request(run.processes, "processes");
  return natives::from_request(std::max<std::int64_t>(run.processes, gpus), "gpus");
}

Value outside_method(const Value& self, std::string name) {
  auto method = std::make_shared<OutsideMethod>();
  method->name = std::move(name);
  method->self = self;
  return wrap(std::move(method));
}

Value descriptor_attribute(const Value& of, Descriptor& descriptor, std::string_view name) {
  if (name != "setter" && name != "getter" && name != "deleter") return {};
  // @x.setter: the same property, now with a setter.
  const bool setter = name == "setter";
  auto* changed = &descriptor;
  return native_function("property." + std::string(name),
                         [keep = of, setter, changed](Machine&, const Arguments& given) {
                           if (setter && !given.positional.empty())
                             changed->setter = given.positional[0];
                           return keep;
                         });
}

}  // namespace

std::optional<Value> Interpreter::special_method(const Value& of, std::string_view name) {
  if (const auto* thing = as<Thing>(of)) {
    if (thing->type_of == nullptr) return std::nullopt;
    const Value* found = find_member(*thing->type_of, name);
    if (found == nullptr) return std::nullopt;
    return bind(*found, of, thing->type_of);
  }
  if (auto* object = as<NativeObject>(of)) {
    auto* type = as<Class>(object->extension);
    const Value* own = type == nullptr ? nullptr : find_member(*type, name);
    return own == nullptr ? object->attribute(*this, name) : bind(*own, of, type);
  }
  return std::nullopt;
}

Value Interpreter::bind(const Value& member, const Value& self, Class* type) {
  if (const auto* descriptor = as<Descriptor>(member)) {
    if (descriptor->kind == Descriptor::Kind::static_method) return descriptor->function;
    if (descriptor->kind == Descriptor::Kind::property) {
      if (self.object() == type) return member;
      Arguments arguments;
      arguments.positional.push_back(self);
      return call(descriptor->function, std::move(arguments));
    }
    auto bound = std::make_shared<BoundMethod>();
    bound->self = self.object() == type ? self : class_value(type);
    bound->function = descriptor->function;
    return wrap(std::move(bound), member.place);
  }
  if (const auto* thing = as<Thing>(member); thing != nullptr && thing->type_of != nullptr) {
    // An object of a class with __get__ is a property of the program's own making.
    const Value* getter = find_member(*thing->type_of, "__get__");
    if (getter == nullptr || self.object() == type) return member;
    Arguments arguments;
    arguments.positional = {self, class_value(type)};
    return call(bind(*getter, member, thing->type_of), std::move(arguments));
  }
  const bool method = as<Function>(member) != nullptr || as<NativeFunction>(member) != nullptr;
  if (!method || self.object() == type) return member;
  auto bound = std::make_shared<BoundMethod>();
  bound->self = self;
  bound->function = member;
  return wrap(std::move(bound), member.place);
}

Value Interpreter::class_attribute(Class& type, std::string_view name) {
  const Value self = class_value(&type);
  if (const Value* found = find_member(type, name)) return bind(*found, self, &type);
  if (name == "__name__" || name == "__qualname__") return {type.name, type.place};
  if (name == "__module__") return module_of(*type.scope);
  if (name == "__dict__") return {dict_within(type.scope, type.scope->names), type.place};
  if (name == "__class__" || name == "__doc__") return {};
  if (name == "__members__") return {dict_within(type.scope, type.scope->names), type.place};
  if (type.outside.empty() || type.enumeration) return {};
  return outside_method(self, canonical(attribute_name(type.outside.front(), name)));
}

Value Interpreter::thing_attribute(const Value& of, Thing& thing, std::string_view name) {
  Class* type = thing.type_of;
  if (type != nullptr) {
    // A property of the class wins over a field, as in Python.
    const Value* member = find_member(*type, name);
    if (member != nullptr && as<Descriptor>(*member) != nullptr) return bind(*member, of, type);
    if (const Value* field = thing.fields.find(name)) return *field;
    if (member != nullptr) return bind(*member, of, type);
  } else if (const Value* field = thing.fields.find(name)) {
    return *field;
  }
  if (name == "__dict__") return {dict_within(owner_of(of), thing.fields), of.place};
  if (type == nullptr) return {};
  if (name == "__class__") return class_value(type);
  if (const auto found = base_attribute(*this, thing, name)) return *found;
  if (const Value* getter = find_member(*type, "__getattr__"); getter != nullptr && depth < 500) {
    Arguments arguments;
    arguments.positional.emplace_back(std::string(name), of.place);
    Value value = call(bind(*getter, of, type), std::move(arguments));
    if (!value.is_unknown()) return value;
  }
  if (type->outside.empty() || type->enumeration || name.starts_with("__")) return {};
  return outside_method(of, attribute_name(type->outside.front() + "()", name));
}

/// super().__init__(...) of a class that extends a config class: fills what is there already.
Value initializer_of(const Value& self, const std::string& base) {
  return native_function(base, [self, base](Machine& machine, const Arguments& arguments) {
    const Value fresh = (*natives::find_native(base))(machine, arguments);
    auto* made = as<NativeObject>(fresh);
    const auto plain = made == nullptr ? std::nullopt : made->plain();
    const Dict* entries = plain ? plain->entries() : nullptr;
    if (entries == nullptr) return Value::none(arguments.place);
    for (const auto& [key, value] : entries->all())
      as<NativeObject>(self)->set_item(machine, Value(key), value);
    return Value::none(arguments.place);
  });
}

Value Interpreter::super_attribute(const Super& super, std::string_view name) {
  if (super.of == nullptr) return {};
  auto* type = const_cast<Class*>(super.of);
  if (const Value* found = find_member(*type, name, super.from))
    return bind(*found, super.self, type);
  if (auto* object = as<NativeObject>(super.self)) {
    if (name == "__init__") return initializer_of(super.self, type->outside.front());
    return object->attribute(*this, name).value_or(Value{});
  }
  if (type->outside.empty()) {
    return native_function("object." + std::string(name),
                           [](Machine&, const Arguments&) { return Value::none(); });
  }
  // super().__init__(...) makes what the base class would be.
  if (auto* thing = as<Thing>(super.self)) {
    if (name == "__init__" && natives::find_native(type->outside.front()) != nullptr) {
      const Native make = [self = super.self, type](Machine& machine, const Arguments& arguments) {
        static_cast<Interpreter&>(machine).make_base(self, *type, arguments);
        return Value::none(arguments.place);
      };
      return native_function(type->outside.front(), make);
    }
    if (const auto found = base_attribute(*this, *thing, name)) return *found;
  }
  if (name == "__init__") return outside_method(super.self, type->outside.front());
  return outside_method(super.self, attribute_name(type->outside.front() + "()", name));
}

Value Interpreter::outside_attribute(const Value& of, const Symbol& symbol, std::string_view name) {
  if (const auto* method = as<OutsideMethod>(of)) {
    if (auto known = of_processes(run_, name)) return *known;
    if (name == "__name__") return Value(symbol.name.substr(symbol.name.rfind('.') + 1));
    return outside_method(method->self, attribute_name(symbol.name, name));
  }
  if (name == "__name__") return Value(symbol.name.substr(symbol.name.rfind('.') + 1));
  std::string dotted = canonical(attribute_name(symbol.name, name));
  if (dotted == "sys.path") return search_path;
  if (dotted == "typing.TYPE_CHECKING") return Value(false);
  if (auto constant = natives::native_constant(*this, dotted)) return *constant;
  auto made = std::make_shared<Symbol>();
  made->name = std::move(dotted);
  return wrap(std::move(made));
}

Value Interpreter::attribute(const Value& of, std::string_view name) {
  if (of.is_unknown()) {
    const auto* only = only_object(of);
    return only == nullptr ? Value{} : attribute(*only, name);
  }
  if (auto* thing = as<Thing>(of)) return thing_attribute(of, *thing, name);
  if (as<Module>(of) != nullptr) return member_of_module(of, name);
  if (const auto* symbol = as<Symbol>(of)) return outside_attribute(of, *symbol, name);
  if (auto* type = as<Class>(of)) return class_attribute(*type, name);
  if (const auto* super = as<Super>(of)) return super_attribute(*super, name);
  if (const auto* function = as<Function>(of)) return function_attribute(*function, name);
  if (const auto* bound = as<BoundMethod>(of)) {
    if (name == "__self__") return bound->self;
    return name == "__func__" ? bound->function : attribute(bound->function, name);
  }
  if (const auto* made = as<MadeThing>(of)) {
    if (const Value* field = made->fields.find(name)) return *field;
    if (auto known = of_processes(run_, name)) return *known;
    const Value* inner = name == "module" ? wrapped_network(seen_, *made) : nullptr;
    if (inner != nullptr) return *inner;
    return outside_method(of, attribute_name(made->callee + "()", name));
  }
  if (const auto* partial = as<Partial>(of)) {
    if (name == "func") return partial->callable;
    if (name == "args") return Value::list(partial->arguments.positional);
    return name == "keywords" ? Value::dict(partial->arguments.named) : Value{};
  }
  if (auto* descriptor = as<Descriptor>(of)) return descriptor_attribute(of, *descriptor, name);
  if (as<NativeObject>(of) != nullptr) return special_method(of, name).value_or(Value{});
  return data_attribute(of, name);
}

/// A method of plain data as a value (`key=d.get`), or an entry of a dict that is read like a
/// namespace.
Value Interpreter::data_attribute(const Value& of, std::string_view name) {
  if (name == "__class__") return type_of(of);
  if (is_data_method(of, name)) {
    const Callee callee{of, {}, std::string(name)};
    return native_function(callee.name, [callee](Machine& machine, const Arguments& arguments) {
      return static_cast<Interpreter&>(machine).call_method_of_data(callee, arguments);
    });
  }
  const Dict* dict = of.entries();
  const Value* found = dict == nullptr ? nullptr : dict->find(name);
  return found == nullptr ? Value{} : *found;
}

void Interpreter::set_attribute(const Value& of, std::string_view name, Value value) {
  if (auto* thing = as<Thing>(of)) {
    const Value* member = thing->type_of == nullptr ? nullptr : find_member(*thing->type_of, name);
    const auto* descriptor = member == nullptr ? nullptr : as<Descriptor>(*member);
    if (descriptor != nullptr && !descriptor->setter.is_unknown()) {
      Arguments arguments;
      arguments.positional = {of, std::move(value)};
      call(descriptor->setter, std::move(arguments));
      return;
    }
    const DictPtr fields = dict_within(owner_of(of), thing->fields);
    if (name == "__dict__") {
      // self.__dict__ = self of a dict says what holds here anyway.
      const Dict fresh = value.entries() == nullptr ? Dict{} : *value.entries();
      for (const auto& [key, each] : fresh.all()) journal.set(fields, key, each);
      return;
    }
    journal.set(fields, name, std::move(value));
  } else if (auto* made = as<MadeThing>(of)) {
    journal.set(dict_within(owner_of(of), made->fields), name, std::move(value));
  } else if (auto* module = as<Module>(of)) {
    journal.set(names_of(module->scope), name, std::move(value));
  } else if (auto* type = as<Class>(of)) {
    journal.set(names_of(type->scope), name, std::move(value));
  } else if (auto* function = as<Function>(of)) {
    journal.set(dict_within(owner_of(of), function->attributes), name, std::move(value));
  } else if (auto* object = as<NativeObject>(of)) {
    object->set_attribute(*this, name, std::move(value));
  } else if (const auto* dict = std::get_if<DictPtr>(&of.data)) {
    journal.set(*dict, name, std::move(value));
  } else if (const Value* only = of.is_unknown() ? only_object(of) : nullptr) {
    set_attribute(*only, name, std::move(value));
  } else if (const auto* outside = as<Symbol>(of); outside != nullptr && outside->name == "sys") {
    // `sys.argv = [...]`: whatever parses the words later on sees these.
    List* words = name == "argv" && certain() ? resolve("sys.argv").items() : nullptr;
    if (words != nullptr && value.items() != nullptr) *words = List(*value.items());
  }
}

}  // namespace schedmate::python
