// SPDX-License-Identifier: Apache-2.0
/// Registries of libraries (fvcore, mmengine): classes and functions by name, put in by decorators.
#include "python/natives/parts.hpp"
#include "python/natives/support.hpp"

namespace schedmate::natives {
namespace {

class Registry : public python::NativeObject, public std::enable_shared_from_this<Registry> {
 public:
  Registry(std::string type, code::Value name) : type_(std::move(type)), name_(std::move(name)) {}
  [[nodiscard]] std::string type_name() const override { return type_; }
  std::optional<code::Value> plain() override { return held_; }
  std::optional<code::Value> item(python::Machine& machine, const code::Value& key) override {
    return look_up(machine, key);
  }

  std::optional<code::Value> attribute(python::Machine&, std::string_view name) override {
    if (name == "name" || name == "_name") return name_;
    if (name == "module_dict" || name == "_module_dict" || name == "_obj_map") return held_;
    const auto method = [&](auto run) {
      return python::native_function(
          type_ + "." + std::string(name),
          [self = shared_from_this(), run](python::Machine& machine,
                                           const python::Arguments& arguments) {
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
  code::Value put(python::Machine& machine, const code::Value& what, const code::Value& name) {
    const code::Value key = name.text() != nullptr ? name : machine.attribute(what, "__name__");
    if (key.text() != nullptr)
      machine.set_entry(std::get<std::shared_ptr<code::Dict>>(held_.data), *key.text(), what);
    return what;
  }

  /// `@r.register()`, `@r.register("name")`, `r.register(Class)`,
  /// `r.register_module(module=Class)`.
  code::Value add(python::Machine& machine, const python::Arguments& arguments) {
    code::Value name, what;
    for (const code::Value& given : arguments.positional)
      (given.text() != nullptr ? name : what) = given;
    for (const auto* const key : {"module", "obj"}) {
      if (const code::Value* given = arguments.named.find(key)) what = *given;
    }
    if (const code::Value* given = arguments.named.find("name")) name = *given;
    if (const code::List* names = name.items(); names != nullptr && !names->empty())
      name = code::Value(names->front());
    if (what.object() != nullptr) return put(machine, what, name);
    return python::native_function(
        type_ + ".register",
        [self = shared_from_this(), name](python::Machine& inner, const python::Arguments& given) {
          return given.positional.empty() ? code::Value{}
                                          : self->put(inner, given.positional[0], name);
        });
  }

  /// By its name, "scope.name" included; a class is itself. What the library brings along by that
  /// name is outside.
  code::Value look_up(python::Machine& machine, const code::Value& key) {
    const std::string* text = key.text();
    if (text == nullptr) return key.object() != nullptr ? key : unknown(key.place);
    const code::Dict& all = *held_.entries();
    const code::Value* found = all.find(*text);
    if (found == nullptr) found = all.find(text->substr(text->rfind('.') + 1));
    return placed(found != nullptr ? *found : machine.resolve(type_ + "." + *text), key.place);
  }

  code::Value get(python::Machine& machine, const python::Arguments& arguments) {
    const code::Value* key = arguments.find("key", 0);
    if (key == nullptr) key = arguments.named.find("name");
    return key == nullptr ? unknown(arguments.place) : look_up(machine, *key);
  }

  /// build(dict(type="Name", ...), default_args): the class is called with the rest.
  code::Value build(python::Machine& machine, const python::Arguments& arguments) {
    code::Value holder, other;
    const code::Value* config = arguments.find("cfg", 0);
    const code::Dict* dict = config == nullptr ? nullptr : dict_of(*config, holder);
    const code::Value* type = dict == nullptr ? nullptr : dict->find("type");
    if (type == nullptr) return unknown(arguments.place);
    python::Arguments all = call_with({}, {}, arguments.place);
    const code::Value* more = arguments.named.find("default_args");
    const code::Dict* defaults = more == nullptr ? nullptr : dict_of(*more, other);
    for (const code::Dict* from : {defaults, dict}) {
      if (from == nullptr) continue;
      for (const auto& [key, value] : from->all()) {
        if (key != "type") all.named.set(key, value);
      }
    }
    return machine.call(look_up(machine, *type), std::move(all));
  }

  std::string type_;
  code::Value name_;
  code::Value held_ = code::Value::dict({});
};

}  // namespace

void add_registries(NativeTable& table) {
  for (const std::string name :
       {"fvcore.common.registry.Registry", "iopath.common.registry.Registry", "mmengine.Registry",
        "mmengine.registry.Registry", "mmcv.Registry", "mmcv.utils.Registry",
        "detectron2.utils.registry.Registry"}) {
    table[name] = [name](python::Machine&, const python::Arguments& arguments) {
      const code::Value* own = arguments.find("name", 0);
      auto made = std::make_shared<Registry>(name, own == nullptr ? unknown() : *own);
      return value_of(std::move(made), arguments.place);
    };
  }
}

}  // namespace schedmate::natives
