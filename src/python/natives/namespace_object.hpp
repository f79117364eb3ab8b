// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The object that parsed flags come in: reading an attribute marks the flag as read.

#include "python/natives/attribute_dict.hpp"

namespace schedmate::python::natives {

class FlagNamespace : public AttributeDict {
 public:
  explicit FlagNamespace(std::string type = "argparse.Namespace")
      : AttributeDict({.type = std::move(type), .wraps_nested = false}, Value::dict({})) {}

  std::optional<Value> attribute(Machine& machine, std::string_view name) override;
  std::optional<Value> item(Machine& machine, const Value& key) override;
  /// What a program puts in the place of a flag's value, not made from it, is what the flag says.
  bool set_attribute(Machine& machine, std::string_view name, Value value) override;

  /// A value that came from a flag; `index` in Observation::flags.
  void put(std::string_view name, Value value, std::optional<std::size_t> index = {});

 protected:
  std::optional<Value> method(Machine& machine, std::string_view name) override;

 private:
  void mark(Machine& machine, std::string_view name) const;
  std::map<std::string, std::size_t, std::less<>> flags_;
};

}  // namespace schedmate::python::natives
