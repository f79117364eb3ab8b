// SPDX-License-Identifier: Apache-2.0
/// jsonargparse.CLI and lightning.pytorch.cli.LightningCLI: config files and dotted flags in the
/// order of the words, then classes made from what came out.
#include <algorithm>

#include "base/text.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {
namespace {

struct Settings {
  Value all = Value::dict({});
  std::string command;  ///< fit, test, ...
  std::vector<command::Word> bare;
};

void read_file(Machine& machine, Settings& settings, const command::Word& file) {
  const auto path = tree_path(machine, file.text);
  const auto config =
      path ? config::read_config(machine.tree(), *path) : fail(ErrorCode::not_found, "");
  if (!config) return;
  publish_config(machine, "jsonargparse", *path, *config);
  settings.all = code::merged(settings.all, *config);
}

/// `--data MNIST` where data holds fields already, or `--data.class_path X`, name a class.
void set_setting(Settings& settings, const std::string& key, Value value) {
  Value* held = settings.all.entries()->find(key);
  const bool names_class = value.text() != nullptr && (key == "model" || key == "data" ||
                                                       key == "optimizer" || key == "lr_scheduler");
  if (!names_class) {
    set_path(settings.all, key, std::move(value));
    return;
  }
  if (held == nullptr || held->entries() == nullptr) {
    held = &settings.all.entries()->set(key, Value::dict({}, value.place));
  }
  held->entries()->set("class_path", std::move(value));
}

Settings read_trainer_settings(Machine& machine, const std::vector<command::Word>& words,
                               bool has_command) {
  Settings settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (!text.starts_with('-')) {
      if (has_command && settings.command.empty() && settings.bare.empty()) {
        settings.command = text;
      } else {
        settings.bare.push_back(words[i]);
      }
      continue;
    }
    const auto equals = text.find('=');
    const std::string key = text.substr(
        text.find_first_not_of('-'),
        equals == std::string::npos ? std::string::npos : equals - text.find_first_not_of('-'));
    command::Word value{"true", words[i].place, words[i].known};
    if (equals != std::string::npos) {
      value.text = text.substr(equals + 1);
    } else if (i + 1 < words.size() && !words[i + 1].text.starts_with("--")) {
      value = words[++i];
    }
    if (key == "config" || key == "c") {
      read_file(machine, settings, value);
    } else {
      set_setting(settings, key,
                  value.known ? config::parse_scalar(value.text, value.place)
                              : Value(value.text, value.place));
    }
  }
  // A file may hold the settings of a command below its name.
  const Value* below = settings.all.entries()->find(settings.command);
  if (below != nullptr && below->entries() != nullptr)
    settings.all = code::merged(settings.all, Value(*below));
  return settings;
}

void show(Machine& machine, const Value& settings, const std::string& prefix, int depth) {
  constexpr int most_nesting = 6;
  const Dict* dict = settings.entries();
  if (dict == nullptr || depth > most_nesting) return;
  for (const auto& [key, value] : dict->all()) {
    if (value.entries() != nullptr) {
      show(machine, value, prefix + key + ".", depth + 1);
    } else {
      const bool given = value.place && value.place->source != FactSource::config;
      publish(machine, {prefix + key, value, {}, given, true, "", value.place});
    }
  }
}

/// {class_path, init_args} made; a plain dict is the arguments of `type`.
Value make(Machine& machine, const Value* type, const Value& settings, int depth = 0) {
  constexpr int most_nesting = 12;
  const Dict* dict = settings.entries();
  if (dict == nullptr || depth > most_nesting) return settings;
  const Value* path = dict->find("class_path");
  const Value* inner = dict->find("init_args");
  const bool plain = path == nullptr && type == nullptr;
  Dict named;
  const Dict* from = path != nullptr && inner != nullptr ? inner->entries() : dict;
  if (from == nullptr) from = dict;
  for (const auto& [key, value] : from->all()) {
    if (path == nullptr || (key != "class_path" && key != "init_args"))
      named.set(key, make(machine, nullptr, value, depth + 1));
  }
  if (plain) return Value::dict(std::move(named), settings.place);
  const Value target = path != nullptr && path->text() != nullptr ? machine.resolve(*path->text())
                                                                  : (type ? *type : Value{});
  return machine.call(
      target, call_with({}, std::move(named), path == nullptr ? settings.place : path->place));
}

Value part(const Settings& settings, std::string_view name) {
  const Value* found = settings.all.entries()->find(name);
  return found == nullptr ? Value::dict({}) : *found;
}

/// LightningCLI(Model, DataModule): trainer.fit(model, data) at the end.
Value lightning_cli(Machine& machine, const Arguments& arguments) {
  const bool runs = truth_or(arguments.named.find("run"), true);
  Settings settings = read_trainer_settings(machine, program_words(machine), runs);
  const Value* defaults = arguments.named.find("trainer_defaults");
  if (defaults != nullptr && defaults->entries() != nullptr) {
    Dict below;
    below.set("trainer", *defaults);
    settings.all = code::merged(Value::dict(std::move(below)), settings.all);
  }
  show(machine, settings.all, "", 0);
  publish_config(machine, "lightning.pytorch.cli", "", settings.all);
  const Value* seed = settings.all.entries()->find("seed_everything");
  if (seed != nullptr)
    machine.call(machine.resolve("lightning.pytorch.seed_everything"), call_with({*seed}));
  const auto given = [](const Value* type) {
    return type != nullptr && !type->is_none() ? type : nullptr;
  };
  const Value data =
      make(machine, given(arguments.find("datamodule_class", 1)), part(settings, "data"));
  const Value model =
      make(machine, given(arguments.find("model_class", 0)), part(settings, "model"));
  for (const auto* const name : {"optimizer", "lr_scheduler"}) {
    const Value settings_of = part(settings, name);
    if (!settings_of.entries()->empty()) make(machine, nullptr, settings_of);
  }
  const Value trainer_type = machine.resolve("lightning.pytorch.Trainer");
  const Value trainer = make(machine, &trainer_type, part(settings, "trainer"));
  if (runs && !settings.command.empty())
    machine.call(machine.attribute(trainer, settings.command),
                 call_with({model, data}, {}, arguments.place));
  Dict fields;
  fields.set("trainer", trainer);
  fields.set("model", model);
  fields.set("datamodule", data);
  fields.set("config", settings.all);
  return machine.instance(Value("LightningCLI"), std::move(fields));
}

/// The component that the first words name: of a list by its own name, of a dict by key.
Value choose_component(Machine& machine, Value chosen, std::vector<command::Word>& words) {
  while (!words.empty()) {
    const std::string name = words.front().text;
    const Value* found = nullptr;
    if (const List* several = chosen.items()) {
      for (const Value& each : *several) {
        const auto function = machine.function(each);
        const auto type = machine.type(each);
        if ((function && function->name == name) || (type && type->name == name)) found = &each;
      }
    } else if (const Dict* named = chosen.entries()) {
      found = named->find(name);
    } else {
      break;
    }
    if (found == nullptr) return {};
    chosen = Value(*found);
    words.erase(words.begin());
  }
  return chosen;
}

/// A class that an argument names, by its whole path or beside the class that is asked for, made
/// with its init_args; the value itself where it names none.
Value made_of(Machine& machine, const Value& value, const Parameter& parameter) {
  const std::string wanted = read_type_hint(parameter.annotation).class_name;
  if (wanted.empty() || parameter.place == nullptr) return value;
  std::string module = parameter.place->file.substr(0, parameter.place->file.rfind('.'));
  std::ranges::replace(module, '/', '.');
  const auto base = machine.type(machine.resolve(module + "." + wanted));
  if (!base) return value;
  const Value* path = value.entries() == nullptr ? &value : value.entries()->find("class_path");
  if (path == nullptr || path->text() == nullptr) return value;
  std::string name = *path->text();
  if (!name.contains('.')) {
    const auto folder = base->file.substr(0, std::min(base->file.rfind('/'), base->file.size()));
    name = folder + "." + name;
    std::ranges::replace(name, '/', '.');
  }
  const Value type = machine.resolve(name);
  const Value* given = value.entries() == nullptr ? nullptr : value.entries()->find("init_args");
  const Dict* settings = given == nullptr ? nullptr : given->entries();
  if (!machine.type(type)) return value;
  return machine.call(type, call_with({}, settings == nullptr ? Dict() : *settings, path->place));
}

/// jsonargparse.CLI(function or class), also of several by name.
Value json_cli(Machine& machine, const Arguments& arguments) {
  const Value* target = arguments.find("components", 0);
  std::vector<command::Word> words = program_words(machine);
  const Value chosen = choose_component(
      machine, target == nullptr ? machine.resolve("__main__.main") : *target, words);
  TypedFlags flags({.booleans = TypedStyle::Booleans::value,
                    .dashes = false,
                    .required_by_place = true,
                    .words_as_lists = false});
  const auto function = machine.function(chosen);
  const auto type = machine.type(chosen);
  if (function) flags.add(machine, *function);
  if (!function && type) flags.add(machine, *type);
  std::vector<command::Word> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].text != "--config" || i + 1 == words.size()) {
      rest.push_back(words[i]);
      continue;
    }
    Settings settings;
    read_file(machine, settings, words[++i]);
    flags.overlay(settings.all);
  }
  const TypedValues values = flags.parse(machine, rest);
  flags.show(machine, values);
  Dict fields = flags.fields(machine, values);
  if (function) {
    for (const Parameter& parameter : function->parameters) {
      if (const Value* value = fields.find(parameter.name))
        fields.set(parameter.name, made_of(machine, Value(*value), parameter));
    }
  }
  return machine.call(chosen, call_with({}, std::move(fields), arguments.place));
}

}  // namespace

void add_lightning_cli(NativeTable& table) {
  for (const auto* const name :
       {"lightning.pytorch.cli.LightningCLI", "pytorch_lightning.cli.LightningCLI",
        "pytorch_lightning.utilities.cli.LightningCLI", "lightning.LightningCLI"})
    table[name] = lightning_cli;
  for (const auto* const name : {"jsonargparse.CLI", "jsonargparse.auto_cli"})
    table[name] = json_cli;
  // Looks at the parser that a call would make, and does not make the call.
  table["jsonargparse.capture_parser"] = [](Machine&, const Arguments& arguments) {
    return unknown(arguments.place);
  };
}

}  // namespace schedmate::python::natives
