// SPDX-License-Identifier: Apache-2.0
#include "python/natives/argument_parser.hpp"

#include <algorithm>

namespace schedmate::python::natives {

namespace {

bool is_suppress(const Value& value) {
  return symbol_name(value).ends_with("SUPPRESS") ||
         (value.text() != nullptr && *value.text() == "==SUPPRESS==");
}

std::string dest_of(const std::vector<std::string>& names, std::string_view prefix) {
  const auto long_name = std::ranges::find_if(names, [&](const std::string& name) {
    return name.size() > 2 && prefix.find(name[1]) != std::string_view::npos;
  });
  std::string dest = long_name == names.end() ? names.front() : *long_name;
  dest.erase(0, std::min(dest.find_first_not_of(prefix), dest.size()));
  std::ranges::replace(dest, '-', '_');
  return dest;
}

std::string nargs_text(const Value& nargs) {
  if (const std::string* text = nargs.text()) return *text;
  if (const std::int64_t* count = nargs.integer()) return std::to_string(*count);
  const std::string name = symbol_name(nargs);
  if (name.ends_with("REMAINDER")) return "...";
  if (name.ends_with("OPTIONAL")) return "?";
  if (name.ends_with("ZERO_OR_MORE")) return "*";
  if (name.ends_with("ONE_OR_MORE")) return "+";
  return nargs.is_none() ? "" : "*";
}

void read_action(Declared& flag, const Value* action) {
  if (action == nullptr) return;
  const std::string name = text_or(action, symbol_name(*action));
  if (!name.empty()) {
    flag.action = name.substr(name.rfind('.') + 1);
  } else {
    flag.action = "user";
    flag.action_class = *action;
  }
}

/// What an action implies where nothing else is said.
void complete(Declared& flag) {
  const std::string& action = flag.action;
  const bool without_value = action == "store_true" || action == "store_false" ||
                             action == "store_const" || action == "append_const" ||
                             action == "count" || action == "help" || action == "version" ||
                             action == "BooleanOptionalAction";
  if (without_value) set_nargs(flag.spec, "0");
  if (action == "store_true" || action == "store_false") {
    flag.constant = Value(action == "store_true");
    if (flag.fallback.is_none()) flag.fallback = {action != "store_true", flag.fallback.place};
  }
  if (action == "extend" && flag.one_value) {
    set_nargs(flag.spec, "+");
    flag.one_value = false;
  }
  if (action == "DictAction") flag.one_value = false;
  if (action == "ActionConfigFile") {
    flag.config_file = true;
    flag.action = "store";
  }
  if (action == "BooleanOptionalAction") {
    for (const std::string& name : flag.spec.names) {
      if (name.starts_with("--")) flag.spec.negations.push_back("--no-" + name.substr(2));
    }
  }
}

void read_choices(Declared& flag, const Value* choices) {
  if (choices == nullptr) return;
  Value holder;
  if (const List* list = choices->items()) {
    flag.choices = *list;
  } else if (const Dict* dict = dict_of(*choices, holder)) {
    for (const auto& [key, value] : dict->all()) flag.choices.emplace_back(key, value.place);
  }
}

}  // namespace

void ArgumentParser::construct(const Arguments& arguments) {
  syntax_.prefix = text_or(arguments.find("prefix_chars", 6), "-");
  file_prefix_ = text_or(arguments.find("fromfile_prefix_chars", 7));
  syntax_.abbreviations = truth_or(arguments.find("allow_abbrev", 11), true);
  if (truth_or(arguments.find("add_help", 10), true)) {
    Declared help;
    help.spec.names = {"-h", "--help"};
    help.spec.dest = "help";
    help.action = "help";
    help.suppressed = true;
    set_nargs(help.spec, "0");
    add(std::move(help));
  }
  const Value* parents = arguments.find("parents", 4);
  if (parents == nullptr || parents->items() == nullptr) return;
  for (const Value& parent : *parents->items()) {
    if (const auto* other = object_as<ArgumentParser>(parent)) include(*other);
  }
}

void ArgumentParser::include(const ArgumentParser& parent) {
  for (const Declared& flag : parent.declared_) add(flag);
  open_ = open_ || parent.open_;
  for (const auto& [name, value] : parent.defaults_.all()) defaults_.set(name, value);
}

void ArgumentParser::add(Declared declared) {
  // A later flag takes over the names of an earlier one (conflict_handler="resolve", user flags
  // over a framework's).
  for (Declared& older : declared_) {
    std::erase_if(older.spec.names, [&](const std::string& name) {
      return std::ranges::find(declared.spec.names, name) != declared.spec.names.end();
    });
  }
  std::erase_if(declared_, [&](const Declared& older) {
    return older.spec.names.empty() && !declared.spec.names.empty() &&
           older.spec.dest == declared.spec.dest;
  });
  declared_.push_back(std::move(declared));
}

void ArgumentParser::declare(const Arguments& arguments) {
  Declared flag;
  flag.place = arguments.place;
  for (const Value& name : arguments.positional) {
    if (const std::string* text = name.text()) flag.spec.names.push_back(*text);
  }
  const auto named = [&](std::string_view key) { return arguments.named.find(key); };
  const std::string dest = text_or(named("dest"));
  if (flag.spec.names.empty() && dest.empty()) {
    open_ = true;
    return;
  }
  const bool positional =
      flag.spec.names.empty() || (flag.spec.names.size() == 1 && !flag.spec.names[0].empty() &&
                                  syntax_.prefix.find(flag.spec.names[0][0]) == std::string::npos);
  if (positional) {
    flag.spec.dest = flag.spec.names.empty() ? dest : flag.spec.names[0];
    flag.spec.names.clear();
  } else {
    flag.spec.dest = dest.empty() ? dest_of(flag.spec.names, syntax_.prefix) : dest;
    flag.spec.required = truth_or(named("required"), false);
  }
  if (const Value* nargs = named("nargs"); nargs != nullptr && !nargs->is_none()) {
    const std::string text = nargs_text(*nargs);
    set_nargs(flag.spec, text);
    flag.one_value = text == "?";
  }
  if (const Value* type = named("type")) flag.type = *type;
  if (const Value* constant = named("const")) flag.constant = *constant;
  const Value* fallback = named("default");
  if (fallback == nullptr) fallback = defaults_.find(flag.spec.dest);
  flag.suppressed = fallback != nullptr && is_suppress(*fallback);
  flag.fallback = as_fallback(fallback == nullptr || flag.suppressed ? Value::none() : *fallback,
                              arguments.place);
  read_action(flag, named("action"));
  read_choices(flag, named("choices"));
  flag.config_file =
      truth_or(named("is_config_file"), false) || truth_or(named("is_config_file_arg"), false);
  complete(flag);
  add(std::move(flag));
}

void ArgumentParser::set_default(std::string_view dest, const Value& value) {
  defaults_.set(dest, value);
  for (Declared& flag : declared_) {
    if (flag.spec.dest == dest) {
      flag.fallback = value;
      flag.spec.required = false;
    }
  }
}

const Value* ArgumentParser::default_of(std::string_view dest) const {
  for (const Declared& flag : declared_) {
    if (flag.spec.dest == dest) return &flag.fallback;
  }
  return defaults_.find(dest);
}

/// add_argument_group and add_mutually_exclusive_group: what is added goes to the parser.
struct Group : NativeObject {
  std::shared_ptr<ArgumentParser> parser;
  std::optional<std::size_t> exclusive;
  std::string type_name() const override { return "argparse._ArgumentGroup"; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override {
    if (name != "add_argument" || !exclusive) return parser->attribute(machine, name);
    return native_function(
        "add_argument", [owner = parser, group = *exclusive](Machine&, const Arguments& arguments) {
          owner->declare(arguments);
          owner->exclusive_[group].members.push_back(owner->declared_.size() - 1);
          return Value::none(arguments.place);
        });
  }
};

/// What add_subparsers returns.
struct Commands : NativeObject {
  std::shared_ptr<ArgumentParser> parser;
  std::string type_name() const override { return "argparse._SubParsersAction"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name == "required") return Value(true);
    if (name != "add_parser") return std::nullopt;
    return native_function("add_parser", [owner = parser](Machine&, const Arguments& arguments) {
      auto command = std::make_shared<ArgumentParser>(owner->type_name());
      Arguments settings = arguments;
      settings.positional.clear();
      command->construct(settings);
      owner->commands_[text_or(arguments.find("name", 0))] = command;
      const Value* aliases = arguments.named.find("aliases");
      if (aliases != nullptr && aliases->items() != nullptr) {
        for (const Value& alias : *aliases->items()) owner->commands_[text_or(&alias)] = command;
      }
      return value_of(command, arguments.place);
    });
  }
  bool set_attribute(Machine&, std::string_view name, Value value) override {
    if (name == "required" && parser->command_) {
      auto& spec = parser->declared_[*parser->command_].spec;
      spec.least = value.truth().value_or(false) ? 1 : 0;
    }
    return true;
  }
};

Value ArgumentParser::add_group(const Arguments& arguments, bool exclusive) {
  auto group = std::make_shared<Group>();
  group->parser = shared_from_this();
  if (exclusive) {
    group->exclusive = exclusive_.size();
    exclusive_.push_back({{}, truth_or(arguments.find("required", 0), false)});
  }
  return value_of(group, arguments.place);
}

Value ArgumentParser::add_commands(const Arguments& arguments) {
  Declared command;
  command.place = arguments.place;
  command.spec.dest = text_or(arguments.named.find("dest"), "==SUPPRESS==");
  set_nargs(command.spec, "A...");
  command.spec.least = truth_or(arguments.named.find("required"), false) ? 1 : 0;
  command.action = "command";
  add(std::move(command));
  command_ = declared_.size() - 1;
  auto commands = std::make_shared<Commands>();
  commands->parser = shared_from_this();
  return value_of(commands, arguments.place);
}

namespace {

using ParserPtr = std::shared_ptr<ArgumentParser>;
using ParserMethod = Value (*)(Machine&, const ParserPtr&, const Arguments&);

Value add_argument(Machine&, const ParserPtr& self, const Arguments& arguments) {
  self->declare(arguments);
  return Value::none(arguments.place);
}

Value set_defaults(Machine&, const ParserPtr& self, const Arguments& arguments) {
  if (!arguments.complete) self->open_defaults();
  for (const auto& [key, value] : arguments.named.all()) self->set_default(key, value);
  for (const Value& other : arguments.positional) {
    Value holder;
    const Dict* dict = dict_of(other, holder);
    if (dict == nullptr) continue;
    for (const auto& [key, value] : dict->all()) self->set_default(key, value);
  }
  return Value::none(arguments.place);
}

Value get_default(Machine&, const ParserPtr& self, const Arguments& arguments) {
  const Value* value = self->default_of(text_or(arguments.find("dest", 0)));
  return value == nullptr ? Value::none(arguments.place) : *value;
}

Value error(Machine& machine, const ParserPtr&, const Arguments& arguments) {
  machine.refuse("the program refuses its flags: " + text_or(arguments.find("message", 0)),
                 arguments.place);
  return Value::none(arguments.place);
}

Value help(Machine&, const ParserPtr&, const Arguments& arguments) {
  return {std::string(), arguments.place};
}

const std::map<std::string_view, ParserMethod>& parser_methods() {
  static const ParserMethod parse = [](Machine& machine, const ParserPtr& self,
                                       const Arguments& arguments) {
    return parse_program(machine, *self, arguments, false);
  };
  static const ParserMethod parse_known = [](Machine& machine, const ParserPtr& self,
                                             const Arguments& arguments) {
    return parse_program(machine, *self, arguments, true);
  };
  static const ParserMethod group = [](Machine&, const ParserPtr& self,
                                       const Arguments& arguments) {
    return self->add_group(arguments, false);
  };
  static const ParserMethod exclusive = [](Machine&, const ParserPtr& self,
                                           const Arguments& arguments) {
    return self->add_group(arguments, true);
  };
  static const ParserMethod commands = [](Machine&, const ParserPtr& self,
                                          const Arguments& arguments) {
    return self->add_commands(arguments);
  };
  static const std::map<std::string_view, ParserMethod> table{
      {"add_argument", add_argument},
      {"add_arg", add_argument},
      {"add", add_argument},
      {"add_argument_group", group},
      {"add_mutually_exclusive_group", exclusive},
      {"add_subparsers", commands},
      {"set_defaults", set_defaults},
      {"get_default", get_default},
      {"parse_args", parse},
      {"parse_intermixed_args", parse},
      {"parse", parse},
      {"parse_known_args", parse_known},
      {"parse_known_intermixed_args", parse_known},
      {"parse_known", parse_known},
      {"error", error},
      {"format_help", help},
      {"print_help", help},
      {"print_usage", help}};
  return table;
}

}  // namespace

std::optional<Value> ArgumentParser::attribute(Machine&, std::string_view name) {
  const auto found = parser_methods().find(name);
  if (found == parser_methods().end()) return std::nullopt;
  return native_function(
      type_ + "." + std::string(name),
      [self = shared_from_this(), run = found->second](
          Machine& machine, const Arguments& arguments) { return run(machine, self, arguments); });
}

void add_parser_natives(NativeTable& table, const std::string& name) {
  table[name] = [name](Machine&, const Arguments& arguments) {
    auto parser = std::make_shared<ArgumentParser>(name);
    parser->construct(arguments);
    return value_of(std::move(parser), arguments.place);
  };
}

}  // namespace schedmate::python::natives
