// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A mapping whose entries are attributes too: DictConfig, CfgNode, EasyDict, Namespace and their
/// like. Nested dicts come wrapped in the same type and share their entries with the whole, so
/// that a write anywhere is seen everywhere.

#include "python/natives/support.hpp"

namespace schedmate::natives {

class AttributeDict : public python::NativeObject,
                      public std::enable_shared_from_this<AttributeDict> {
 public:
  struct Style {
    std::string type = "dict";    ///< dotted name of the class
    bool wraps_nested = true;     ///< a Namespace leaves inner dicts as they are
    bool interpolates = false;    ///< OmegaConf's ${a.b}, resolved at reading
    bool absent_is_none = false;  ///< OmegaConf without struct flag
    bool absent_is_dict = false;  ///< addict and yacs-like open nodes grow on reading
  };
  AttributeDict(Style style, code::Value held);

  [[nodiscard]] std::string type_name() const override { return style_.type; }
  std::optional<code::Value> attribute(python::Machine& machine, std::string_view name) override;
  bool set_attribute(python::Machine& machine, std::string_view name, code::Value value) override;
  std::optional<code::Value> item(python::Machine& machine, const code::Value& key) override;
  bool set_item(python::Machine& machine, const code::Value& key, code::Value value) override;
  std::optional<code::Value> plain() override { return held_; }

  /// An entry as the program sees it: wrapped, interpolated; nothing when absent.
  std::optional<code::Value> entry(python::Machine& machine, std::string_view key);
  [[nodiscard]] code::Dict& entries() { return *held_.entries(); }
  [[nodiscard]] const code::Value& held() const { return held_; }
  /// The plain entries with every ${...} of the whole looked up.
  [[nodiscard]] code::Value resolved(python::Machine& machine) const;
  void replace(const code::Value& held) { *held_.entries() = *held.entries(); }
  [[nodiscard]] const Style& style() const { return style_; }

 protected:
  /// Methods beyond those of a dict; a derived class adds its own.
  virtual std::optional<code::Value> method(python::Machine& machine, std::string_view name);
  [[nodiscard]] virtual std::shared_ptr<AttributeDict> same_type(code::Value nested) const;
  code::Value wrap(code::Value value, std::string_view key);

 private:
  Style style_;
  code::Value held_;  ///< always a dict
  code::Value root_;  ///< the whole that ${...} is looked up in
  std::string path_;  ///< of this node in root_
};

/// An unwrapped value: the dict behind an AttributeDict, others as they are (nested ones too).
[[nodiscard]] code::Value unwrapped(const code::Value& value);
/// Python's str() of a mapping key.
[[nodiscard]] std::string key_text(const code::Value& key);

}  // namespace schedmate::natives
