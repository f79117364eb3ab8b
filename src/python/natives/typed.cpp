// SPDX-License-Identifier: Apache-2.0
/// Libraries that make flags from a function's parameters or a class's fields: fire,
/// simple_parsing, pyrallis, draccus.
#include <fmt/format.h>

#include <algorithm>

#include "python/natives/argument_parser.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {

namespace {

/// pyrallis and draccus: a YAML file named by --config_path stands below the dotted flags.
Value parse_with_file(Machine& machine, const Value& type, std::vector<command::Word> words) {
  const auto view = machine.type(type);
  if (!view) return {};
  TypedFlags flags({.booleans = TypedStyle::Booleans::value, .words_as_lists = false});
  flags.add(machine, *view);
  for (auto word = words.begin(); word != words.end();) {
    const auto equals = word->text.find('=');
    const std::string key = word->text.substr(0, equals);
    if (key != "--config_path" && key != "--config-path" && key != "--CONFIG") {
      ++word;
      continue;
    }
    const bool attached = equals != std::string::npos;
    const bool has_value = attached || word + 1 != words.end();
    const std::string file = attached    ? word->text.substr(equals + 1)
                             : has_value ? (word + 1)->text
                                         : std::string();
    word = words.erase(word, word + (attached || !has_value ? 1 : 2));
    const auto path = tree_path(machine, file);
    const auto settings =
        path ? config::read_config(machine.tree(), *path) : fail(ErrorCode::not_found, "");
    if (!settings) continue;
    publish_config(machine, "pyrallis", *path, *settings);
    flags.overlay(*settings);
  }
  const auto values = flags.parse(machine, words);
  flags.show(machine, values);
  return machine.instance(type, flags.fields(machine, values));
}

Value parse_draccus(Machine& machine, const Arguments& arguments) {
  const Value* type = arguments.find("config_class", 0);
  return type == nullptr ? Value{}
                         : parse_with_file(machine, *type, given_words(machine, arguments));
}

/// @pyrallis.wrap(): the first parameter's annotation is the class.
Value wrap_draccus(Machine&, const Arguments&) {
  return native_function("wrap", [](Machine&, const Arguments& decorated) {
    if (decorated.positional.empty()) return Value{};
    const Value function = decorated.positional[0];
    return native_function("wrapped", [function](Machine& machine, const Arguments& arguments) {
      const auto view = machine.function(function);
      if (!arguments.positional.empty() || !view || view->parameters.empty())
        return machine.call(function, arguments);
      const Parameter& first = view->parameters.front();
      std::string module = first.place ? first.place->file : machine.run().script;
      module.erase(std::min(module.rfind('.'), module.size()));
      std::ranges::replace(module, '/', '.');
      const Value type = machine.resolve(module + "." + first.annotation);
      return machine.call(
          function,
          call_with({parse_with_file(machine, type, program_words(machine))}, {}, arguments.place));
    });
  });
}

/// What fire makes of `--name value`, `--name`, `--noname` and bare words for one function.
Value fire_function(Machine& machine, const Value& target,
                    const std::vector<command::Word>& words) {
  auto view = machine.function(target);
  if (const auto type = machine.type(target)) {
    view = machine.function(machine.attribute(target, "__init__"));
    if (!view) view = FunctionView{type->name, type->fields, type->place};
  }
  if (!view) return {};
  std::vector<FlagSpec> specs;
  std::vector<const Parameter*> parameters;
  bool takes_any = false;
  for (const Parameter& parameter : view->parameters) {
    takes_any = takes_any || parameter.kind == Parameter::Kind::double_star;
    const bool named =
        parameter.kind == Parameter::Kind::plain || parameter.kind == Parameter::Kind::keyword_only;
    if (!named || parameter.name == "self") continue;
    FlagSpec spec;
    spec.dest = parameter.name;
    std::string dashed = parameter.name;
    std::ranges::replace(dashed, '_', '-');
    spec.names = {"--" + parameter.name, "-" + parameter.name, "--" + dashed};
    spec.negations = {"--no" + parameter.name};
    set_nargs(spec, "?");
    specs.push_back(std::move(spec));
    parameters.push_back(&parameter);
  }
  FlagSyntax syntax;
  syntax.abbreviations = false;
  const FlagMatch match = match_flags(specs, words, syntax);
  Dict named;
  for (const FlagUse& use : match.uses) {
    named.set(specs[use.spec].dest,
              use.values.empty() ? Value(!use.negated, use.place)
                                 : read_word(FlagType::literal, use.values[0]).value_or(Value{}));
  }
  std::vector<command::Word> extra = match.leftover;
  for (const Parameter* parameter : parameters) {
    if (extra.empty() || extra.front().text.starts_with("--")) break;
    if (named.find(parameter->name) != nullptr) continue;
    named.set(parameter->name, read_word(FlagType::literal, extra.front()).value_or(Value{}));
    extra.erase(extra.begin());
  }
  if (takes_any) {
    const Dict more = loose_flags(extra);
    for (const auto& [key, value] : more.all()) named.set(key, value);
  }
  for (const Parameter* parameter : parameters) {
    const Value* given = named.find(parameter->name);
    const Value fallback = as_fallback(parameter->fallback.value_or(Value{}), parameter->place);
    publish(machine, {parameter->name, given == nullptr ? fallback : *given, fallback,
                      given != nullptr, true, "", parameter->place});
    if (given == nullptr && !parameter->fallback && match.certain)
      machine.refuse(fmt::format("the argument {} is missing", parameter->name), parameter->place);
  }
  return machine.call(target, call_with({}, std::move(named), view->place));
}

/// fire.Fire(): of the module when nothing is given; of a dict by its first word; the method of an
/// object by its first word.
Value fire(Machine& machine, const Arguments& arguments) {
  std::vector<command::Word> words = program_words(machine);
  const Value* component = arguments.find("component", 0);
  Value target = component == nullptr ? Value::none() : *component;
  const bool chooses = target.is_none() || target.entries() != nullptr;
  if (chooses && !words.empty()) {
    const command::Word first = words.front();
    words.erase(words.begin());
    const Value* entry = target.entries() == nullptr ? nullptr : target.entries()->find(first.text);
    if (target.is_none()) {
      target = machine.resolve("__main__." + first.text);
    } else {
      target = entry == nullptr ? Value{} : *entry;
    }
  }
  if (machine.type(target) && !words.empty() && !words.back().text.starts_with('-')) {
    // `Trainer train --lr 3`: the method takes the words after its name.
    const auto at = std::ranges::find_if(words, [&](const command::Word& word) {
      return !word.text.starts_with('-') &&
             machine.function(machine.attribute(target, word.text)).has_value();
    });
    if (at != words.end()) {
      const Value self = fire_function(machine, target, {words.begin(), at});
      return fire_function(machine, machine.attribute(self, at->text), {at + 1, words.end()});
    }
  }
  return fire_function(machine, target, words);
}

/// simple_parsing.ArgumentParser: argparse with add_arguments(DataClass, dest).
class SimpleParser : public ArgumentParser {
 public:
  SimpleParser() : ArgumentParser("simple_parsing.ArgumentParser") {}
  std::optional<Value> attribute(Machine& machine, std::string_view name) override {
    const auto self = std::static_pointer_cast<SimpleParser>(shared_from_this());
    if (name == "add_arguments") {
      return native_function("add_arguments", [self](Machine&, const Arguments& arguments) {
        const Value* type = arguments.find("dataclass", 0);
        if (type != nullptr) self->classes_.emplace_back(text_or(arguments.find("dest", 1)), *type);
        return Value::none(arguments.place);
      });
    }
    if (name == "parse_args" || name == "parse_known_args") {
      const bool known = name == "parse_known_args";
      return native_function(std::string(name),
                             [self, known](Machine& inner, const Arguments& arguments) {
                               return self->parse_all(inner, arguments, known);
                             });
    }
    return ArgumentParser::attribute(machine, name);
  }

 private:
  Value parse_all(Machine& machine, const Arguments& arguments, bool known) {
    Value result = parse_program(machine, *this, arguments, true);
    if (result.items() == nullptr) return result;
    Value space = result.items()->at(0);
    auto words = as_words(machine, result.items()->at(1));
    for (const auto& [dest, type] : classes_) {
      TypedFlags flags({.nested_names = false});
      const auto view = machine.type(type);
      if (!view) continue;
      flags.add(machine, *view);
      const auto values = flags.parse(machine, words);
      flags.show(machine, values);
      machine.set_attribute(space, dest, machine.instance(type, flags.fields(machine, values)));
      words = values.leftover;
    }
    if (known) return Value::list({space, as_list(words)}, arguments.place);
    if (!words.empty() && words.front().known)
      machine.refuse(fmt::format("no flag or positional argument takes '{}'", words.front().text),
                     words.front().place);
    return space;
  }
  std::vector<std::pair<std::string, Value>> classes_;
};

Value simple_parse(Machine& machine, const Arguments& arguments) {
  const Value* type = arguments.find("config_class", 0);
  if (type == nullptr) return {};
  return run_typed(machine, *type, TypedFlags({.nested_names = false}),
                   given_words(machine, arguments));
}

}  // namespace

void add_typed(NativeTable& table) {
  table["fire.Fire"] = fire;
  table["simple_parsing.parse"] = simple_parse;
  table["simple_parsing.ArgumentParser"] = [](Machine&, const Arguments& arguments) {
    auto parser = std::make_shared<SimpleParser>();
    parser->construct(arguments);
    return value_of(parser, arguments.place);
  };
  for (const std::string library : {"pyrallis", "draccus"}) {
    table[library + ".parse"] = parse_draccus;
    table[library + ".wrap"] = wrap_draccus;
  }
}

}  // namespace schedmate::python::natives
