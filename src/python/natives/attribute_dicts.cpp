// SPDX-License-Identifier: Apache-2.0
/// Dicts with attributes that need no more than that, and mmengine's Config.
#include <algorithm>

#include "base/text.hpp"
#include "python/natives/config_nodes.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

Value collect(const Arguments& arguments) {
  Value held = Value::dict({}, arguments.place);
  for (const Value& from : arguments.positional) {
    Value holder;
    if (const Dict* dict = dict_of(from, holder)) {
      for (const auto& [key, value] : dict->all()) held.entries()->set(key, unwrapped(value));
    }
  }
  for (const auto& [key, value] : arguments.named.all()) held.entries()->set(key, unwrapped(value));
  return held;
}

Native makes(const AttributeDict::Style& style) {
  return [style](Machine&, const Arguments& arguments) {
    return value_of(std::make_shared<AttributeDict>(style, collect(arguments)), arguments.place);
  };
}

/// ml_collections.ConfigDict: references are the values themselves.
class MlConfig : public AttributeDict {
 public:
  explicit MlConfig(Value held)
      : AttributeDict({.type = "ml_collections.ConfigDict"}, std::move(held)) {}

 protected:
  std::shared_ptr<AttributeDict> same_type(Value nested) const override {
    return std::make_shared<MlConfig>(std::move(nested));
  }
  std::optional<Value> method(Machine& machine, std::string_view name) override {
    const auto self = shared_from_this();
    if (name == "lock" || name == "unlock") {
      return native_function(std::string(name),
                             [self](Machine&, const Arguments&) { return value_of(self); });
    }
    if (name == "ignore_type" || name == "unlocked" || name == "set_read_only")
      return native_function(std::string(name), returns_none);
    if (name == "get_ref" || name == "get_oneway_ref") return AttributeDict::method(machine, "get");
    if (name == "copy_and_resolve_references") {
      return native_function("copy", [self](Machine&, const Arguments&) {
        return value_of(std::make_shared<MlConfig>(self->held().deep_copy()));
      });
    }
    if (name == "update_from_flattened_dict") {
      return native_function("update", [self](Machine&, const Arguments& arguments) {
        Value holder;
        Value held = self->held();
        const Dict* dict =
            arguments.positional.empty() ? nullptr : dict_of(arguments.positional[0], holder);
        if (dict != nullptr) {
          for (const auto& [key, value] : dict->all()) set_path(held, key, value);
        }
        return Value::none();
      });
    }
    return AttributeDict::method(machine, name);
  }
};

/// mmengine.Config and mmcv.Config.
class MmConfig : public AttributeDict {
 public:
  explicit MmConfig(Value held) : AttributeDict({.type = "mmengine.Config"}, std::move(held)) {}

 protected:
  std::shared_ptr<AttributeDict> same_type(Value nested) const override {
    return std::make_shared<MmConfig>(std::move(nested));
  }
  std::optional<Value> method(Machine& machine, std::string_view name) override {
    const auto self = shared_from_this();
    if (name == "merge_from_dict") {
      return native_function("merge_from_dict", [self](Machine&, const Arguments& arguments) {
        Value holder;
        const Value* options = arguments.find("options", 0);
        const Dict* dict = options == nullptr ? nullptr : dict_of(*options, holder);
        Value held = self->held();
        if (dict != nullptr) {
          for (const auto& [key, value] : dict->all()) {
            const Value plain = unwrapped(value);
            const auto* before = const_cast<Value*>(find_path(held, key));
            if (before != nullptr && before->entries() != nullptr && plain.entries() != nullptr) {
              Value target = *before;
              merge_into(target, plain);
            } else {
              set_path(held, key, plain);
            }
          }
        }
        return Value::none(arguments.place);
      });
    }
    if (name == "_cfg_dict") return value_of(self);
    if (name == "dump" || name == "pretty_text")
      return native_function(std::string(name), returns_none);
    return AttributeDict::method(machine, name);
  }
};

Value config_from_file(Machine& machine, const Arguments& arguments) {
  const Value* name = arguments.find("filename", 0);
  const auto text = name == nullptr ? std::nullopt : path_text(*name);
  const auto path = text ? tree_path(machine, *text) : std::nullopt;
  if (!path) return unknown(arguments.place);
  const auto settings = path->ends_with(".py") ? machine.read_config(*path)
                                               : config::read_config_chain(machine.tree(), *path);
  if (!settings) {
    machine.tree().degrade("the config " + *path +
                           " could not be read: " + settings.error().message);
    return unknown(arguments.place);
  }
  publish_config(machine, "mmengine.Config", *path, *settings);
  auto config = std::make_shared<MmConfig>(*settings);
  return value_of(std::move(config), arguments.place);
}

}  // namespace

}  // namespace schedmate::python::natives

bool schedmate::python::natives::is_extensible(std::string_view dotted) {
  constexpr std::string_view classes[] = {"yacs.config.CfgNode",
                                          "fvcore.common.config.CfgNode",
                                          "detectron2.config.CfgNode",
                                          "easydict.EasyDict",
                                          "munch.Munch",
                                          "addict.Dict",
                                          "box.Box",
                                          "attrdict.AttrDict",
                                          "dotmap.DotMap",
                                          "mmengine.ConfigDict",
                                          "mmcv.ConfigDict",
                                          "ml_collections.ConfigDict",
                                          "ml_collections.config_dict.ConfigDict"};
  return std::ranges::find(classes, dotted) != std::end(classes);
}

namespace schedmate::python::natives {

void add_attribute_dicts(NativeTable& table) {
  for (const auto* const name :
       {"easydict.EasyDict", "munch.Munch", "munch.munchify", "munch.DefaultMunch.fromDict",
        "box.Box", "attrdict.AttrDict", "dotmap.DotMap", "transformers.utils.ModelOutput",
        "prodict.Prodict.from_dict", "edict"})
    table[name] = makes({.type = name});
  table["types.SimpleNamespace"] = makes({.type = "types.SimpleNamespace", .wraps_nested = false});
  for (const auto* const name : {"addict.Dict", "mmengine.ConfigDict", "mmcv.ConfigDict"})
    table[name] = makes({.type = name, .absent_is_dict = name == std::string_view("addict.Dict")});
  for (const auto* const name :
       {"ml_collections.ConfigDict", "ml_collections.FrozenConfigDict",
        "ml_collections.config_dict.ConfigDict", "ml_collections.config_dict.FrozenConfigDict",
        "ml_collections.config_dict.config_dict.ConfigDict"}) {
    table[name] = [](Machine&, const Arguments& arguments) {
      const Value* first_entries = arguments.named.find("initial_dictionary");
      const bool named = first_entries != nullptr && first_entries->entries() != nullptr;
      return value_of(std::make_shared<MlConfig>(named ? *first_entries : collect(arguments)),
                      arguments.place);
    };
  }
  table["ml_collections.config_dict.placeholder"] = returns_none;
  table["ml_collections.config_dict.FieldReference"] = gives_first;
  table["ml_collections.FieldReference"] = gives_first;
}

void add_mmengine(NativeTable& table) {
  for (const auto* const name :
       {"mmengine.Config", "mmcv.Config", "mmengine.config.Config", "mmcv.utils.Config"}) {
    table[name] = [](Machine&, const Arguments& arguments) {
      return value_of(std::make_shared<MmConfig>(collect(arguments)), arguments.place);
    };
    table[std::string(name) + ".fromfile"] = config_from_file;
  }
}

}  // namespace schedmate::python::natives
