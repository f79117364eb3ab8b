// SPDX-License-Identifier: Apache-2.0
/// Registries of libraries (fvcore, mmengine): classes and functions by name, put in by decorators.
#include "python/natives/parts.hpp"
#include "python/natives/support.hpp"

namespace schedmate::python::natives {
namespace {

class Registry : public NativeObject, public std::enable_shared_from_this<Registry> {
 public:
  Registry(std::string type, Value name) : type_(std::move(type)), name_(std::move(name)) {}
  [[nodiscard]] std::string type_name() const override { return type_; }
  std::optional<Value> plain() override { return held_; }
  std::optional<Value> item(Machine& machine, const Value& key) override {
    return look_up(machine, key);
  }

  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name == "name" || name == "_name") return name_;
    if (name == "module_dict" || name == "_module_dict" || name == "_obj_map") return held_;
    const auto method = [&](auto run) {
      return native_function(
          type_ + "." + std::string(name),
          [self = shared_from_this(), run](Machine& machine, const Arguments& arguments) {
            return ((*self).*run)(machine, arguments);
          });
    };
    if (name == "register" || name == "register_module" || name == "_do_register")
      return method(&Registry::add);
    if (name == "get") return method(&Registry::get);
    if (name == "build") return method(&Registry::build);
    return std::nullopt;
  }

 private:
  Value put(Machine& machine, const Value& what, const Value& name) {
    const Value key = name.text() != nullptr ? name : machine.attribute(what, "__name__");
    if (key.text() != nullptr)
      machine.set_entry(std::get<std::shared_ptr<Dict>>(held_.data), *key.text(), what);
    return what;
  }

  /// `@r.register()`, `@r.register("name")`, `r.register(Class)`,
  /// `r.register_module(module=Class)`.
  Value add(Machine& machine, const Arguments& arguments) {
    Value name, what;
    for (const Value& given : arguments.positional) (given.text() != nullptr ? name : what) = given;
    for (const auto* const key : {"module", "obj"}) {
      if (const Value* given = arguments.named.find(key)) what = *given;
    }
    if (const Value* given = arguments.named.find("name")) name = *given;
    if (const List* names = name.items(); names != nullptr && !names->empty())
      name = Value(names->front());
    if (what.object() != nullptr) return put(machine, what, name);
    return native_function(type_ + ".register", [self = shared_from_this(), name](
                                                    Machine& inner, const Arguments& given) {
      return given.positional.empty() ? Value{} : self->put(inner, given.positional[0], name);
    });
  }

  /// By its name, "scope.name" included; a class is itself. What the library brings along by that
  /// name is outside.
  Value look_up(Machine& machine, const Value& key) {
    const std::string* text = key.text();
    if (text == nullptr) return key.object() != nullptr ? key : unknown(key.place);
    const Dict& all = *held_.entries();
    const Value* found = all.find(*text);
    if (found == nullptr) found = all.find(text->substr(text->rfind('.') + 1));
    return placed(found != nullptr ? *found : machine.resolve(type_ + "." + *text), key.place);
  }

  Value get(Machine& machine, const Arguments& arguments) {
    const Value* key = arguments.find("key", 0);
    if (key == nullptr) key = arguments.named.find("name");
    return key == nullptr ? unknown(arguments.place) : look_up(machine, *key);
  }

  /// build(dict(type="Name", ...), default_args): the class is called with the rest.
  Value build(Machine& machine, const Arguments& arguments) {
    Value holder, other;
    const Value* config = arguments.find("cfg", 0);
    const Dict* dict = config == nullptr ? nullptr : dict_of(*config, holder);
    const Value* type = dict == nullptr ? nullptr : dict->find("type");
    if (type == nullptr) return unknown(arguments.place);
    Arguments all = call_with({}, {}, arguments.place);
    const Value* more = arguments.named.find("default_args");
    const Dict* defaults = more == nullptr ? nullptr : dict_of(*more, other);
    for (const Dict* from : {defaults, dict}) {
      if (from == nullptr) continue;
      for (const auto& [key, value] : from->all()) {
        if (key != "type") all.named.set(key, value);
      }
    }
    return machine.call(look_up(machine, *type), std::move(all));
  }

  std::string type_;
  Value name_;
  Value held_ = Value::dict({});
};

}  // namespace

void add_registries(NativeTable& table) {
  for (const std::string name :
       {"fvcore.common.registry.Registry", "iopath.common.registry.Registry", "mmengine.Registry",
        "mmengine.registry.Registry", "mmcv.Registry", "mmcv.utils.Registry",
        "detectron2.utils.registry.Registry"}) {
    table[name] = [name](Machine&, const Arguments& arguments) {
      const Value* own = arguments.find("name", 0);
      auto made = std::make_shared<Registry>(name, own == nullptr ? unknown() : *own);
      return value_of(std::move(made), arguments.place);
    };
  }
}

}  // namespace schedmate::python::natives
