// SPDX-License-Identifier: Apache-2.0
/// mlxu: absl's flags from keyword arguments, and ConfigDicts with less to write.
#include "python/natives/attribute_dict.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

Value call_native(Machine& machine, std::string_view name, const Arguments& arguments) {
  const Native* native = find_native(name);
  return native == nullptr ? unknown(arguments.place) : (*native)(machine, arguments);
}

Value config_dict(Machine& machine, const Arguments& arguments) {
  const List given{Value::dict(arguments.named, arguments.place)};
  return call_native(machine, "ml_collections.ConfigDict", call_with(given, {}, arguments.place));
}

/// A copy of the config with what the other one says on top; without any, the config itself.
Value update_config_dict(Machine& machine, const Arguments& arguments) {
  const Value* config = arguments.find("config", 0);
  if (config == nullptr) return unknown(arguments.place);
  const Value* updates = arguments.find("updates", 1);
  const auto* above = updates == nullptr ? nullptr : object_as<AttributeDict>(*updates);
  const auto* below = object_as<AttributeDict>(*config);
  if (above == nullptr || below == nullptr) return *config;
  const List given{code::merged(below->held(), above->held())};
  return call_native(machine, "ml_collections.ConfigDict", call_with(given, {}, config->place));
}

std::string_view definition_of(const Value& value) {
  if (object_as<AttributeDict>(value) != nullptr)
    return "ml_collections.config_flags.DEFINE_config_dict";
  if (value.boolean() != nullptr) return "absl.flags.DEFINE_bool";
  if (value.integer() != nullptr) return "absl.flags.DEFINE_integer";
  if (value.real() != nullptr) return "absl.flags.DEFINE_float";
  return "absl.flags.DEFINE_string";
}

/// define_flags_with_default(a=1, b=config): FLAGS and the dict of what was given.
Value define_flags(Machine& machine, const Arguments& arguments) {
  for (const auto& [name, value] : arguments.named.all()) {
    const PlacePtr& place = value.place ? value.place : arguments.place;
    // Some class's get_default_config(): a config with entries that are not known here.
    const bool open = value.is_unknown() || dynamic_cast<Made*>(value.object()) != nullptr;
    const Value given = open ? config_dict(machine, call_with({}, {}, place)) : value;
    call_native(machine, definition_of(given), call_with({Value(name), given}, {}, place));
  }
  const Value flags = absl_flags(machine).value_or(unknown(arguments.place));
  return Value::list({flags, Value::dict(arguments.named, arguments.place)}, arguments.place);
}

}  // namespace

void add_mlxu(NativeTable& table) {
  for (const std::string module : {"mlxu.", "mlxu.config."}) {
    table[module + "config_dict"] = config_dict;
    table[module + "update_config_dict"] = update_config_dict;
    table[module + "define_flags_with_default"] = define_flags;
    table[module + "config_placeholder"] = [](Machine&, const Arguments& arguments) {
      return Value::none(arguments.place);
    };
    table[module + "run"] = table["absl.app.run"];
  }
}

}  // namespace schedmate::python::natives
