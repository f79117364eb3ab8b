// SPDX-License-Identifier: Apache-2.0
/// Hydra's parser of overrides, used by programs that have no other part of Hydra.
#include "base/text.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/support.hpp"

namespace schedmate::python::natives {
namespace {

/// One parsed `key=value`.
struct Override : NativeObject {
  std::string key;
  char sign = 0;  ///< '~' or '+' before the key
  Value given;
  std::string type_name() const override { return "hydra.core.override_parser.types.Override"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name == "key_or_group") return Value(key, given.place);
    if (name == "value" || name == "get_value_element_as_str") {
      return native_function(std::string(name),
                             [value = given](Machine&, const Arguments&) { return value; });
    }
    const bool asks = name == "is_delete" || name == "is_add" || name == "is_sweep_override";
    if (!asks) return std::nullopt;
    const bool is = (name == "is_delete" && sign == '~') || (name == "is_add" && sign == '+');
    return native_function(std::string(name),
                           [is](Machine&, const Arguments&) { return Value(is); });
  }
};

Value parse(Machine&, const Arguments& arguments) {
  List made;
  const Value* words = arguments.positional.empty() ? arguments.named.find("overrides")
                                                    : &arguments.positional.back();
  if (words == nullptr || words->items() == nullptr) return unknown(arguments.place);
  for (const Value& word : *words->items()) {
    if (word.text() == nullptr) continue;
    std::string_view text = *word.text();
    auto override = std::make_shared<Override>();
    if (text.starts_with('~') || text.starts_with('+')) {
      override->sign = text.front();
      text.remove_prefix(std::min(text.find_first_not_of("~+"), text.size()));
    }
    const auto equals = std::min(text.find('='), text.size());
    override->key = std::string(trim(text.substr(0, equals)));
    override->given = equals == text.size()
                          ? Value::none(word.place)
                          : config::parse_scalar(text.substr(equals + 1), word.place);
    made.push_back(value_of(std::move(override), word.place));
  }
  return Value::list(std::move(made), words->place);
}

}  // namespace

void add_hydra_overrides(NativeTable& table) {
  table["hydra.core.override_parser.overrides_parser.OverridesParser.create.parse_overrides"] =
      parse;
}

}  // namespace schedmate::python::natives
