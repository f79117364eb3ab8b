// SPDX-License-Identifier: Apache-2.0
/// yacs' CfgNode, and those of fvcore and detectron2 that follow _BASE_ and know more keys than the
/// tree shows.
#include "base/text.hpp"
#include "python/natives/config_nodes.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

/// A word of `--opts KEY VALUE` as yacs reads it: a literal, bent to the type that was there.
Value typed_as(const Value* before, const Value& given) {
  const std::string* text = given.text();
  if (text == nullptr) return given;
  Value value = read_literal(*text, given.place);
  if (before == nullptr) return value;
  if (before->real() != nullptr && value.integer() != nullptr)
    return {static_cast<double>(*value.integer()), value.place};
  return before->text() != nullptr ? given : value;
}

class CfgNode : public AttributeDict {
 public:
  CfgNode(Style style, Value held) : AttributeDict(std::move(style), std::move(held)) {}

 protected:
  std::shared_ptr<AttributeDict> same_type(Value nested) const override {
    return std::make_shared<CfgNode>(style(), std::move(nested));
  }

  std::optional<Value> method(Machine& machine, std::string_view name) override {
    const auto self = std::static_pointer_cast<CfgNode>(shared_from_this());
    const auto make = [&](auto run) {
      return native_function(style().type + "." + std::string(name),
                             [self, run](Machine& inner, const Arguments& arguments) {
                               return run(inner, *self, arguments);
                             });
    };
    if (name == "merge_from_file" || name == "merge_with_dotlist_file") return make(merge_file);
    if (name == "merge_from_list") return make(merge_list);
    if (name == "merge_from_other_cfg" || name == "merge") return make(merge_other);
    if (name == "load_yaml_with_base") return make(load_with_base);
    if (name == "clone") {
      return make([](Machine&, CfgNode& node, const Arguments& arguments) {
        auto copy = node.same_type(node.held().deep_copy());
        copy->extension = node.extension;
        return value_of(std::move(copy), arguments.place);
      });
    }
    if (name == "freeze" || name == "defrost" || name == "set_new_allowed" ||
        name == "register_deprecated_key" || name == "register_renamed_key")
      return make([](Machine&, CfgNode&, const Arguments&) { return Value::none(); });
    if (name == "is_frozen")
      return make([](Machine&, CfgNode&, const Arguments&) { return Value{}; });
    if (name == "dump") return make([](Machine&, CfgNode&, const Arguments&) { return Value{}; });
    return AttributeDict::method(machine, name);
  }

 private:
  static Value merge_file(Machine& machine, CfgNode& node, const Arguments& arguments) {
    const Value* name = arguments.find("cfg_filename", 0);
    const auto text = name == nullptr ? std::nullopt : path_text(*name);
    const auto path = text ? tree_path(machine, *text) : std::nullopt;
    if (!path) return Value::none(arguments.place);
    // yacs itself knows no bases; programs that have them merge them by themselves.
    const auto settings = node.style().type == "yacs.config.CfgNode"
                              ? config::read_config(machine.tree(), *path)
                              : config::read_config_chain(machine.tree(), *path);
    if (!settings) return Value::none(arguments.place);
    Value held = node.held();
    merge_into(held, *settings);
    // What is merged later is seen in it too.
    publish_config(machine, node.style().type, *path, held);
    return Value::none(arguments.place);
  }

  /// What a file and those under it say; the node that reads it is the one it is merged into.
  static Value load_with_base(Machine& machine, CfgNode& node, const Arguments& arguments) {
    const Value* name = arguments.find("filename", 0);
    const auto text = name == nullptr ? std::nullopt : path_text(*name);
    const auto path = text ? tree_path(machine, *text) : std::nullopt;
    if (!path) return unknown(arguments.place);
    auto settings = config::read_config_chain(machine.tree(), *path);
    if (!settings) return unknown(arguments.place);
    publish_config(machine, node.style().type, *path, node.held());
    return std::move(*settings);
  }

  static Value merge_list(Machine&, CfgNode& node, const Arguments& arguments) {
    const Value* given = arguments.find("cfg_list", 0);
    const List* list = given == nullptr ? nullptr : given->items();
    if (list == nullptr) return Value::none(arguments.place);
    Value held = node.held();
    for (std::size_t i = 0; i < list->size(); ++i) {
      std::string key = text_or(&(*list)[i]);
      const auto equals = key.find('=');
      Value value;
      if (equals != std::string::npos) {
        value = {key.substr(equals + 1), (*list)[i].place};
        key.erase(equals);
      } else if (i + 1 < list->size()) {
        value = (*list)[++i];
      }
      if (!key.empty()) set_path(held, key, typed_as(find_path(held, key), value));
    }
    return Value::none(arguments.place);
  }

  static Value merge_other(Machine&, CfgNode& node, const Arguments& arguments) {
    Value holder;
    const Value* other = arguments.find("cfg_other", 0);
    const Dict* dict = other == nullptr ? nullptr : dict_of(*other, holder);
    Value held = node.held();
    if (dict != nullptr) merge_into(held, Value::dict(*dict));
    return Value::none(arguments.place);
  }
};

Native makes_node(const AttributeDict::Style& style) {
  return [style](Machine&, const Arguments& arguments) {
    Value held = Value::dict({}, arguments.place);
    Value holder;
    const Value* from = arguments.find("init_dict", 0);
    const Dict* dict = from == nullptr ? nullptr : dict_of(*from, holder);
    if (dict != nullptr) held = Value::dict(*dict, arguments.place).deep_copy();
    return value_of(std::make_shared<CfgNode>(style, std::move(held)), arguments.place);
  };
}

}  // namespace

void add_yacs(NativeTable& table) {
  const AttributeDict::Style plain{.type = "yacs.config.CfgNode"};
  table["yacs.config.CfgNode"] = makes_node(plain);
  for (const auto* const name : {"fvcore.common.config.CfgNode", "detectron2.config.CfgNode",
                                 "iopath.common.config.CfgNode", "d2go.config.CfgNode"})
    table[name] = makes_node({.type = name});
  // Their defaults are outside the tree: nodes that are not set yet appear when asked for.
  for (const auto* const name : {"detectron2.config.get_cfg", "fastreid.config.get_cfg",
                                 "adet.config.get_cfg", "maskrcnn_benchmark.config.cfg.clone"})
    table[name] = makes_node({.type = "detectron2.config.CfgNode", .absent_is_dict = true});
  table["yacs.config.CfgNode.load_cfg"] = [plain](Machine& machine, const Arguments& arguments) {
    if (arguments.positional.empty()) return unknown(arguments.place);
    const Value settings = read_settings(machine, arguments.positional.back(),
                                         config::ConfigFormat::yaml, "yacs.config.CfgNode");
    if (settings.entries() == nullptr) return unknown(arguments.place);
    return value_of(std::make_shared<CfgNode>(plain, settings), arguments.place);
  };
}

}  // namespace schedmate::python::natives
