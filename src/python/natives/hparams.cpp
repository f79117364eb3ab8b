// SPDX-License-Identifier: Apache-2.0
/// tf.contrib.training.HParams: settings with defaults, changed by "name=value,other=[1,2]".
#include "base/text.hpp"
#include "python/natives/attribute_dict.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

/// The parts of "a=1,b=[1,2],c=x": commas within brackets do not divide.
std::vector<std::string_view> assignments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      if (text[i] == '[') ++depth;
      if (text[i] == ']') --depth;
      if (text[i] != ',' || depth > 0) continue;
    }
    if (const auto part = trim(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

/// With the type of what stood there before.
Value read_as(const Value& before, std::string_view text, const PlacePtr& place) {
  if (before.text() != nullptr) return {std::string(text), place};
  if (before.boolean() != nullptr) {
    if (text == "1" || text == "true" || text == "True") return {true, place};
    if (text == "0" || text == "false" || text == "False") return {false, place};
    return unknown(place);
  }
  return read_literal(text, place);
}

class HParams : public AttributeDict {
 public:
  explicit HParams(Value held)
      : AttributeDict({.type = "tensorflow.contrib.training.HParams", .wraps_nested = false},
                      std::move(held)) {}

 protected:
  std::optional<Value> method(Machine& machine, std::string_view name) override {
    const auto self = std::static_pointer_cast<HParams>(shared_from_this());
    const auto made = [&](const auto& run) {
      return native_function("HParams." + std::string(name), run);
    };
    if (name == "parse") {
      return made([self](Machine& within, const Arguments& arguments) {
        if (const Value* text = arguments.find("values", 0)) self->parse(within, *text);
        return value_of(self, arguments.place);
      });
    }
    if (name == "values") return made([self](Machine&, const auto&) { return self->held(); });
    if (name == "set_hparam" || name == "add_hparam") {
      return made([self](Machine& within, const Arguments& arguments) {
        const Value* key = arguments.find("name", 0);
        const Value* value = arguments.find("value", 1);
        if (key != nullptr && value != nullptr) self->set_item(within, *key, *value);
        return Value::none(arguments.place);
      });
    }
    if (name == "override_from_dict") return AttributeDict::method(machine, "update");
    return AttributeDict::method(machine, name);
  }

 private:
  void parse(Machine& machine, const Value& given) {
    const std::string* text = given.text();
    if (text == nullptr) return;
    for (const auto part : assignments(*text)) {
      const auto equals = part.find('=');
      if (equals == std::string_view::npos) continue;
      const auto key = trim(part.substr(0, equals));
      const Value* before = entries().find(key);
      set_attribute(machine, key,
                    read_as(before == nullptr ? Value{} : *before, trim(part.substr(equals + 1)),
                            given.place));
    }
  }
};

}  // namespace

void add_hparams(NativeTable& table) {
  table["tensorflow.contrib.training.HParams"] = [](Machine& machine, const Arguments& arguments) {
    const Value held = Value::dict(arguments.named, arguments.place);
    publish_config(machine, "HParams", arguments.place ? arguments.place->file : "", held);
    return value_of(std::make_shared<HParams>(held), arguments.place);
  };
}

}  // namespace schedmate::python::natives
