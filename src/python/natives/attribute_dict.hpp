// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A mapping whose entries are attributes too: DictConfig, CfgNode, EasyDict, Namespace and their
/// like. Nested dicts come wrapped in the same type and share their entries with the whole, so
/// that a write anywhere is seen everywhere.

#include "python/natives/support.hpp"

namespace schedmate::python::natives {

class AttributeDict : public NativeObject, public std::enable_shared_from_this<AttributeDict> {
 public:
  struct Style {
    std::string type = "dict";    ///< dotted name of the class
    bool wraps_nested = true;     ///< a Namespace leaves inner dicts as they are
    bool interpolates = false;    ///< OmegaConf's ${a.b}, resolved at reading
    bool absent_is_none = false;  ///< OmegaConf without struct flag
    bool absent_is_dict = false;  ///< addict and yacs-like open nodes grow on reading
  };
  AttributeDict(Style style, Value held);

  [[nodiscard]] std::string type_name() const override { return style_.type; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;
  bool set_attribute(Machine& machine, std::string_view name, Value value) override;
  std::optional<Value> item(Machine& machine, const Value& key) override;
  bool set_item(Machine& machine, const Value& key, Value value) override;
  std::optional<Value> plain() override { return held_; }

  /// An entry as the program sees it: wrapped, interpolated; nothing when absent.
  std::optional<Value> entry(Machine& machine, std::string_view key);
  [[nodiscard]] Dict& entries() { return *held_.entries(); }
  [[nodiscard]] const Value& held() const { return held_; }
  /// The plain entries with every ${...} of the whole looked up.
  [[nodiscard]] Value resolved(Machine& machine) const;
  void replace(const Value& held) { *held_.entries() = *held.entries(); }
  [[nodiscard]] const Style& style() const { return style_; }

 protected:
  /// Methods beyond those of a dict; a derived class adds its own.
  virtual std::optional<Value> method(Machine& machine, std::string_view name);
  [[nodiscard]] virtual std::shared_ptr<AttributeDict> same_type(Value nested) const;
  Value wrap(Value value, std::string_view key);

 private:
  Style style_;
  Value held_;        ///< always a dict
  Value root_;        ///< the whole that ${...} is looked up in
  std::string path_;  ///< of this node in root_
};

/// An unwrapped value: the dict behind an AttributeDict, others as they are (nested ones too).
[[nodiscard]] Value unwrapped(const Value& value);
/// Python's str() of a mapping key.
[[nodiscard]] std::string key_text(const Value& key);

}  // namespace schedmate::python::natives
