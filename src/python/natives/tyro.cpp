// SPDX-License-Identifier: Apache-2.0
/// tyro: flags from the fields of a class, or of an object that stands as the default, and commands
/// that each choose such an object.
#include <fmt/format.h>

#include <algorithm>

#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {

namespace {

const TypedStyle style{.booleans = TypedStyle::Booleans::pair};

/// What tyro.extras.subcommand_type_from_defaults() gives: a type whose values are chosen by name.
struct Choices : NativeObject {
  Dict options;
  std::string type_name() const override { return "tyro.extras.Subcommands"; }
  std::optional<Value> attribute(Machine&, std::string_view) override { return std::nullopt; }
};

/// An object like `model` but for what the words say. Its parts may be of other classes than the
/// annotations of its class name.
Value over_object(Machine& machine, const Value& model, const std::vector<command::Word>& words) {
  const Value type = machine.attribute(model, "__class__");
  auto view = machine.type(type);
  const auto* instance = object_as<Instance>(model);
  if (!view || instance == nullptr) return model;
  for (Parameter& field : view->fields) {
    if (const Value* held = instance->fields.find(field.name)) field.fallback = *held;
  }
  // Which of the switches take a word (FlagConversionOff) is not looked at: both are read.
  TypedFlags flags;
  flags.add(machine, *view);
  flags.overlay(Value::dict(instance->fields));  // parts that are still plain dicts
  const auto values = flags.parse(machine, words);
  flags.show(machine, values);
  return machine.instance(type, flags.fields(machine, values));
}

/// The value of one choice: an object, or a class or function still to be filled.
Value filled(Machine& machine, const Value& target, const std::vector<command::Word>& words) {
  if (object_as<Instance>(target) != nullptr) return over_object(machine, target, words);
  return run_typed(machine, target, TypedFlags(style), words);
}

/// The choice that the first word without a dash names, filled with the words around it.
Value choose(Machine& machine, const Dict& options, std::vector<command::Word> words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    for (const auto& [name, target] : options.all()) {
      std::string dashed = name;
      std::ranges::replace(dashed, '_', '-');
      if (word->text != name && word->text != dashed) continue;
      publish(machine, {"command", {name, word->place}, {}, true, true, "", word->place});
      words.erase(word);
      return filled(machine, target, words);
    }
  }
  return {};
}

Value run_cli(Machine& machine, const Arguments& arguments) {
  const Value* target = arguments.find("f", 0);
  if (target == nullptr) return {};
  const auto words = given_words(machine, arguments);
  if (const auto* choices = object_as<Choices>(*target))
    return choose(machine, choices->options, words);
  const Value* fallback = arguments.named.find("default");
  const bool has_model = fallback != nullptr && object_as<Instance>(*fallback) != nullptr;
  return filled(machine, has_model ? *fallback : *target, words);
}

/// {"name": object} as a type to choose from.
Value choices_of(Machine&, const Arguments& arguments) {
  const Value* defaults = arguments.find("defaults", 0);
  Value holder;
  const Dict* options = defaults == nullptr ? nullptr : dict_of(*defaults, holder);
  if (options == nullptr) return unknown(arguments.place);
  auto choices = std::make_shared<Choices>();
  choices->options = *options;
  return value_of(std::move(choices), arguments.place);
}

/// {"name": ("what it is", object)} or {"name": function}, chosen at once.
Value choose_of(Machine& machine, const Arguments& arguments) {
  Value holder;
  const Dict* options =
      arguments.positional.empty() ? nullptr : dict_of(arguments.positional[0], holder);
  if (options == nullptr) return unknown(arguments.place);
  Dict targets;
  for (const auto& [name, value] : options->all()) {
    const List* pair = value.items();
    targets.set(name, pair != nullptr && pair->size() == 2 ? pair->back() : value);
  }
  return choose(machine, targets, given_words(machine, arguments));
}

}  // namespace

void add_tyro(NativeTable& table) {
  table["tyro.cli"] = run_cli;
  table["tyro.extras.subcommand_type_from_defaults"] = choices_of;
  table["tyro.extras.overridable_config_cli"] = choose_of;
  table["tyro.extras.subcommand_cli_from_dict"] = choose_of;
}

}  // namespace schedmate::python::natives
