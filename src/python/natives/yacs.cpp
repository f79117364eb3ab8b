// SPDX-License-Identifier: Apache-2.0
/// yacs' CfgNode, and those of fvcore and detectron2 that follow _BASE_ and know more keys than the
/// tree shows.
#include "base/text.hpp"
#include "python/natives/config_nodes.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::natives {
namespace {

/// A word of `--opts KEY VALUE` as yacs reads it: a literal, bent to the type that was there.
code::Value typed_as(const code::Value* before, const code::Value& given) {
  const std::string* text = given.text();
  if (text == nullptr) return given;
  code::Value value = read_literal(*text, given.place);
  if (before == nullptr) return value;
  if (before->real() != nullptr && value.integer() != nullptr)
    return {static_cast<double>(*value.integer()), value.place};
  return before->text() != nullptr ? given : value;
}

class CfgNode : public AttributeDict {
 public:
  CfgNode(Style style, code::Value held) : AttributeDict(std::move(style), std::move(held)) {}

 protected:
  std::shared_ptr<AttributeDict> same_type(code::Value nested) const override {
    return std::make_shared<CfgNode>(style(), std::move(nested));
  }

  std::optional<code::Value> method(python::Machine& machine, std::string_view name) override {
    const auto self = std::static_pointer_cast<CfgNode>(shared_from_this());
    const auto make = [&](auto run) {
      return python::native_function(
          style().type + "." + std::string(name),
          [self, run](python::Machine& inner, const python::Arguments& arguments) {
            return run(inner, *self, arguments);
          });
    };
    if (name == "merge_from_file" || name == "merge_with_dotlist_file") return make(merge_file);
    if (name == "merge_from_list") return make(merge_list);
    if (name == "merge_from_other_cfg" || name == "merge") return make(merge_other);
    if (name == "load_yaml_with_base") return make(load_with_base);
    if (name == "clone") {
      return make([](python::Machine&, CfgNode& node, const python::Arguments& arguments) {
        auto copy = node.same_type(node.held().deep_copy());
        copy->extension = node.extension;
        return value_of(std::move(copy), arguments.place);
      });
    }
    if (name == "freeze" || name == "defrost" || name == "set_new_allowed" ||
        name == "register_deprecated_key" || name == "register_renamed_key")
      return make(
          [](python::Machine&, CfgNode&, const python::Arguments&) { return code::Value::none(); });
    if (name == "is_frozen")
      return make(
          [](python::Machine&, CfgNode&, const python::Arguments&) { return code::Value{}; });
    if (name == "dump")
      return make(
          [](python::Machine&, CfgNode&, const python::Arguments&) { return code::Value{}; });
    return AttributeDict::method(machine, name);
  }

 private:
  static code::Value merge_file(python::Machine& machine, CfgNode& node,
                                const python::Arguments& arguments) {
    const code::Value* name = arguments.find("cfg_filename", 0);
    const auto text = name == nullptr ? std::nullopt : path_text(*name);
    const auto path = text ? tree_path(machine, *text) : std::nullopt;
    if (!path) return code::Value::none(arguments.place);
    // yacs itself knows no bases; programs that have them merge them by themselves.
    const auto settings = node.style().type == "yacs.config.CfgNode"
                              ? config::read_config(machine.tree(), *path)
                              : config::read_config_chain(machine.tree(), *path);
    if (!settings) return code::Value::none(arguments.place);
    code::Value held = node.held();
    merge_into(held, *settings);
    // What is merged later is seen in it too.
    publish_config(machine, node.style().type, *path, held);
    return code::Value::none(arguments.place);
  }

  /// What a file and those under it say; the node that reads it is the one it is merged into.
  static code::Value load_with_base(python::Machine& machine, CfgNode& node,
                                    const python::Arguments& arguments) {
    const code::Value* name = arguments.find("filename", 0);
    const auto text = name == nullptr ? std::nullopt : path_text(*name);
    const auto path = text ? tree_path(machine, *text) : std::nullopt;
    if (!path) return unknown(arguments.place);
    auto settings = config::read_config_chain(machine.tree(), *path);
    if (!settings) return unknown(arguments.place);
    publish_config(machine, node.style().type, *path, node.held());
    return std::move(*settings);
  }

  static code::Value merge_list(python::Machine&, CfgNode& node,
                                const python::Arguments& arguments) {
    const code::Value* given = arguments.find("cfg_list", 0);
    const code::List* list = given == nullptr ? nullptr : given->items();
    if (list == nullptr) return code::Value::none(arguments.place);
    code::Value held = node.held();
    for (std::size_t i = 0; i < list->size(); ++i) {
      std::string key = text_or(&(*list)[i]);
      const auto equals = key.find('=');
      code::Value value;
      if (equals != std::string::npos) {
        value = {key.substr(equals + 1), (*list)[i].place};
        key.erase(equals);
      } else if (i + 1 < list->size()) {
        value = (*list)[++i];
      }
      if (!key.empty()) code::set_path(held, key, typed_as(code::find_path(held, key), value));
    }
    return code::Value::none(arguments.place);
  }

  static code::Value merge_other(python::Machine&, CfgNode& node,
                                 const python::Arguments& arguments) {
    code::Value holder;
    const code::Value* other = arguments.find("cfg_other", 0);
    const code::Dict* dict = other == nullptr ? nullptr : dict_of(*other, holder);
    code::Value held = node.held();
    if (dict != nullptr) merge_into(held, code::Value::dict(*dict));
    return code::Value::none(arguments.place);
  }
};

python::Native makes_node(const AttributeDict::Style& style) {
  return [style](python::Machine&, const python::Arguments& arguments) {
    code::Value held = code::Value::dict({}, arguments.place);
    code::Value holder;
    const code::Value* from = arguments.find("init_dict", 0);
    const code::Dict* dict = from == nullptr ? nullptr : dict_of(*from, holder);
    if (dict != nullptr) held = code::Value::dict(*dict, arguments.place).deep_copy();
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
  table["yacs.config.CfgNode.load_cfg"] = [plain](python::Machine& machine,
                                                  const python::Arguments& arguments) {
    if (arguments.positional.empty()) return unknown(arguments.place);
    const code::Value settings = read_settings(machine, arguments.positional.back(),
                                               config::ConfigFormat::yaml, "yacs.config.CfgNode");
    if (settings.entries() == nullptr) return unknown(arguments.place);
    return value_of(std::make_shared<CfgNode>(plain, settings), arguments.place);
  };
}

}  // namespace schedmate::natives
