// SPDX-License-Identifier: Apache-2.0
/// importlib.util and sys.modules: modules by a path or a name that the program puts together.
#include <algorithm>

#include "python/natives/attribute_dict.hpp"
#include "python/natives/parts.hpp"
#include "python/objects/objects.hpp"

namespace schedmate::python::natives {
namespace {

bool is_module(const Value& value) { return object_as<Module>(value) != nullptr; }

/// "configs/large.py" as the dotted name that a module of that file is found by.
std::string dotted_path(std::string path) {
  path.resize(path.size() - std::string_view(".py").size());
  std::ranges::replace(path, '/', '.');
  return path;
}

/// The module of a file that is named by its path; unknown when the tree does not hold it.
Value module_of_file(Machine& machine, const Value* path, const PlacePtr& place) {
  const auto text = path == nullptr ? std::nullopt : path_text(*path);
  const auto file = text ? tree_path(machine, *text) : std::nullopt;
  if (!file || !file->ends_with(".py") || !machine.tree().is_file(*file)) return unknown(place);
  return machine.resolve(dotted_path(*file));
}

/// What loads a file: a spec's loader, a SourceFileLoader. The module has run when it is given.
Value loader_of(Value module, const PlacePtr& place) {
  auto loader = std::make_shared<AttributeDict>(
      AttributeDict::Style{.type = "importlib.Loader", .wraps_nested = false}, Value::dict({}));
  loader->entries().set(
      "load_module",
      native_function("load_module", [module](Machine&, const auto&) { return module; }));
  loader->entries().set("exec_module", native_function("exec_module", [](Machine&, const auto&) {
                          return Value::none();
                        }));
  return value_of(std::move(loader), place);
}

Value spec_of_file(Machine& machine, const Arguments& arguments) {
  const Value module = module_of_file(machine, arguments.find("location", 1), arguments.place);
  if (!is_module(module)) return unknown(arguments.place);
  auto spec = std::make_shared<AttributeDict>(
      AttributeDict::Style{.type = "importlib.ModuleSpec", .wraps_nested = false}, Value::dict({}));
  spec->entries().set("loader", loader_of(module, arguments.place));
  spec->entries().set("module", module);
  return value_of(std::move(spec), arguments.place);
}

Value module_of_spec(Machine&, const Arguments& arguments) {
  const Value* spec = arguments.find("spec", 0);
  auto* held = spec == nullptr ? nullptr : object_as<AttributeDict>(*spec);
  const Value* module = held == nullptr ? nullptr : held->entries().find("module");
  return module == nullptr ? unknown(arguments.place) : *module;
}

/// sys.modules: every module by its name, loaded or not.
class Modules : public NativeObject {
 public:
  [[nodiscard]] std::string type_name() const override { return "sys.modules"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name != "get") return std::nullopt;
    return native_function("sys.modules.get", [](Machine& machine, const Arguments& arguments) {
      const Value* key = arguments.find("key", 0);
      const std::string dotted = text_or(key);
      return dotted.empty() ? unknown(arguments.place) : machine.resolve(dotted);
    });
  }
  std::optional<Value> item(Machine& machine, const Value& key) override {
    if (key.text() == nullptr || key.text()->empty()) return unknown();
    return machine.resolve(*key.text());
  }
};

}  // namespace

void add_modules(NativeTable& table) {
  table["importlib.util.spec_from_file_location"] = spec_of_file;
  table["importlib.util.module_from_spec"] = module_of_spec;
  table["importlib.machinery.SourceFileLoader"] = [](Machine& machine, const Arguments& arguments) {
    return loader_of(module_of_file(machine, arguments.find("path", 1), arguments.place),
                     arguments.place);
  };
  table["imp.load_source"] = [](Machine& machine, const Arguments& arguments) {
    return module_of_file(machine, arguments.find("pathname", 1), arguments.place);
  };
}

std::optional<Value> modules_constant(std::string_view dotted) {
  if (dotted != "sys.modules") return std::nullopt;
  return value_of(std::make_shared<Modules>());
}

}  // namespace schedmate::python::natives
