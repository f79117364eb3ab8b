// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "python/natives/flag_parser.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/support.hpp"

namespace schedmate::python::natives {

namespace {

/// click.Choice([...]), click.IntRange(...), click.Path(): what a word becomes.
struct ClickType : NativeObject {
  FlagType type = FlagType::text;
  List choices;
  std::string type_name() const override { return "click.ParamType"; }
  std::optional<Value> attribute(Machine&, std::string_view) override { return std::nullopt; }
};

struct ClickParameter {
  FlagSpec spec;
  Value type;  ///< unknown: by the default
  Value fallback = Value::none();
  Value constant;  ///< of a flag without value
  Value callback;
  std::string environment;
  bool repeated = false;
  PlacePtr place;
};

std::string parameter_name(const std::vector<std::string>& names) {
  std::string best;
  for (const std::string& name : names) {
    if (!name.starts_with('-')) return name;
    const auto bare = name.substr(name.find_first_not_of('-'));
    const bool longer = name.starts_with("--") && !best.starts_with("--");
    if (best.empty() || longer) best = longer ? name : bare;
  }
  best.erase(0, std::min(best.find_first_not_of('-'), best.size()));
  std::ranges::replace(best, '-', '_');
  return best;
}

void read_names(ClickParameter& parameter, const List& declarations) {
  std::vector<std::string> names;
  for (const Value& declaration : declarations) {
    const std::string text = text_or(&declaration);
    const auto slash = text.starts_with('-') ? text.find('/') : std::string::npos;
    names.emplace_back(trim(text.substr(0, slash)));
    if (slash != std::string::npos)
      parameter.spec.negations.emplace_back(trim(text.substr(slash + 1)));
  }
  parameter.spec.dest = parameter_name(names);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with('-'); });
  parameter.spec.names = std::move(names);
}

ClickParameter read_option(const Arguments& arguments) {
  ClickParameter parameter;
  parameter.place = arguments.place;
  read_names(parameter, arguments.positional);
  const auto named = [&](std::string_view key) { return arguments.named.find(key); };
  if (const Value* type = named("type")) parameter.type = *type;
  if (const Value* callback = named("callback")) parameter.callback = *callback;
  parameter.environment = text_or(named("envvar"));
  parameter.spec.required = truth_or(named("required"), false);
  parameter.repeated = truth_or(named("multiple"), false) || truth_or(named("count"), false);
  const bool counts = truth_or(named("count"), false);
  const Value* value_of_flag = named("flag_value");
  const bool is_flag = truth_or(named("is_flag"), false) || counts || value_of_flag != nullptr ||
                       !parameter.spec.negations.empty();
  if (const Value* nargs = named("nargs"); nargs != nullptr && nargs->integer() != nullptr)
    set_nargs(parameter.spec, std::to_string(*nargs->integer()));
  if (is_flag) set_nargs(parameter.spec, "0");
  parameter.constant = value_of_flag == nullptr ? Value(true) : *value_of_flag;
  const Value* fallback = named("default");
  Value given = fallback == nullptr ? Value::none() : *fallback;
  if (fallback == nullptr && is_flag) given = Value(false);
  if (fallback == nullptr && counts) given = Value(std::int64_t{0});
  if (fallback == nullptr && parameter.repeated && !counts) given = Value::list({});
  if (counts) parameter.constant = Value(std::int64_t{1});
  parameter.fallback = as_fallback(std::move(given), arguments.place);
  return parameter;
}

ClickParameter read_argument(const Arguments& arguments) {
  ClickParameter parameter = read_option(arguments);
  parameter.spec.names.clear();
  parameter.spec.dest = text_or(arguments.positional.empty() ? nullptr : &arguments.positional[0]);
  const Value* nargs = arguments.named.find("nargs");
  if (nargs != nullptr && nargs->integer() != nullptr && *nargs->integer() < 0)
    set_nargs(parameter.spec, parameter.spec.required ? "+" : "*");
  const bool optional = arguments.named.find("default") != nullptr ||
                        !truth_or(arguments.named.find("required"), true);
  if (optional) parameter.spec.least = 0;
  parameter.spec.required = false;
  return parameter;
}

/// A function with options: a command, a group of them, or one that is still being decorated.
class ClickCommand : public NativeObject, public std::enable_shared_from_this<ClickCommand> {
 public:
  explicit ClickCommand(Value function) : function_(std::move(function)) {}
  std::string type_name() const override { return "click.Command"; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;
  Value run(Machine& machine, std::vector<command::Word> words, const Arguments& more);
  void put_first(ClickParameter parameter) {
    parameters_.insert(parameters_.begin(), std::move(parameter));
  }
  void become_command(bool group) {
    is_command_ = true;
    is_group_ = group;
  }
  void add(std::string name, std::shared_ptr<ClickCommand> command) {
    commands_.insert_or_assign(std::move(name), std::move(command));
  }
  [[nodiscard]] const Value& function() const { return function_; }
  bool passes_context = false;

 private:
  Value read_one(Machine& machine, const ClickParameter& parameter, const command::Word& word);
  Value read(Machine& machine, const ClickParameter& parameter, const FlagUse& use);
  Dict bind(Machine& machine, const std::vector<FlagUse>& uses);

  Value function_;
  std::vector<ClickParameter> parameters_;
  std::map<std::string, std::shared_ptr<ClickCommand>, std::less<>> commands_;
  bool is_command_ = false, is_group_ = false;
};

std::shared_ptr<ClickCommand> command_of(const Value& function) {
  if (auto* command = object_as<ClickCommand>(function)) return command->shared_from_this();
  return std::make_shared<ClickCommand>(function);
}

FlagType type_of_default(const Value& fallback) {
  if (fallback.integer() != nullptr) return FlagType::integer;
  if (fallback.real() != nullptr) return FlagType::real;
  return fallback.boolean() != nullptr ? FlagType::yes_no : FlagType::text;
}

Value ClickCommand::read_one(Machine& machine, const ClickParameter& parameter,
                             const command::Word& word) {
  const auto* type = object_as<ClickType>(parameter.type);
  const std::string name = symbol_name(parameter.type);
  if (object_as<Instance>(parameter.type) != nullptr) {
    const Value convert = machine.attribute(parameter.type, "convert");
    return placed(machine.call(convert, call_with({Value(word.text, word.place), Value::none(),
                                                   Value::none()})),
                  word.place);
  }
  FlagType kind = type_of_default(parameter.fallback);
  if (type != nullptr) kind = type->type;
  if (name == "int" || name.ends_with("INT")) kind = FlagType::integer;
  if (name == "float" || name.ends_with("FLOAT")) kind = FlagType::real;
  if (name == "str" || name.ends_with("STRING")) kind = FlagType::text;
  if (name == "bool" || name.ends_with("BOOL")) kind = FlagType::yes_no;
  const bool user = machine.function(parameter.type).has_value();
  const auto value = user ? convert(machine, parameter.type, word) : read_word(kind, word);
  const bool allowed = type == nullptr || type->choices.empty() || !word.known || !value ||
                       std::ranges::any_of(type->choices, [&](const Value& choice) {
                         return choice.is_unknown() || repr(choice) == repr(*value);
                       });
  if (value && allowed) return *value;
  machine.refuse(fmt::format("the option {} may not be '{}'", parameter.spec.dest, word.text),
                 word.place);
  return unknown(word.place);
}

Value ClickCommand::read(Machine& machine, const ClickParameter& parameter, const FlagUse& use) {
  if (use.negated) return {false, use.place};
  if (parameter.spec.most == 0) return {parameter.constant.data, use.place};
  if (parameter.spec.most == 1) return read_one(machine, parameter, use.values.front());
  List items;
  for (const command::Word& word : use.values) items.push_back(read_one(machine, parameter, word));
  return Value::list(std::move(items), use.place);
}

Dict ClickCommand::bind(Machine& machine, const std::vector<FlagUse>& uses) {
  Dict values;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ClickParameter& parameter = parameters_[i];
    Value value = parameter.fallback.deep_copy();
    const auto from_environment = machine.run().env.find(parameter.environment);
    if (from_environment != machine.run().env.end())
      value = read_one(machine, parameter, from_environment->second);
    bool given = false;
    List all;
    for (const FlagUse& use : uses) {
      const bool empty = parameter.spec.most > 0 && use.values.empty();
      if (use.spec != i || empty) continue;
      value = read(machine, parameter, use);
      all.push_back(value);
      given = true;
    }
    const bool counts = parameter.constant.integer() != nullptr && parameter.spec.most == 0;
    if (given && parameter.repeated)
      value = counts ? Value(static_cast<std::int64_t>(all.size()), value.place)
                     : Value::list(all, value.place);
    if (machine.function(parameter.callback)) {
      const Value called = machine.call(
          parameter.callback, call_with({Value{}, Value::none(), value}, {}, parameter.place));
      value = placed(called, value.place);
    }
    // Two flags may choose between values of one name: --a/--b with flag_value.
    if (!given && values.find(parameter.spec.dest) != nullptr) continue;
    publish(machine,
            {parameter.spec.dest, value, parameter.fallback, given, true, "", parameter.place});
    values.set(parameter.spec.dest, std::move(value));
  }
  return values;
}

Value ClickCommand::run(Machine& machine, std::vector<command::Word> words, const Arguments& more) {
  std::vector<FlagSpec> specs;
  for (const ClickParameter& parameter : parameters_) specs.push_back(parameter.spec);
  FlagSyntax syntax;
  syntax.abbreviations = false;
  syntax.free_order = !is_group_;
  FlagMatch match = match_flags(specs, words, syntax);
  for (const FlagError& error : match.errors) {
    if (match.certain) machine.refuse(error.message, error.place);
  }
  const bool strict = !is_group_ && match.certain;
  if (strict && !match.leftover.empty() && match.leftover.front().known)
    machine.refuse(
        fmt::format("no option or positional argument takes '{}'", match.leftover.front().text),
        match.leftover.front().place);
  Arguments arguments = call_with({}, bind(machine, match.uses), more.place);
  if (passes_context) arguments.positional.push_back(unknown(more.place));
  Value result = machine.call(function_, arguments);
  if (!is_group_ || match.leftover.empty()) return result;
  const command::Word chosen = match.leftover.front();
  const auto found = commands_.find(chosen.text);
  if (found == commands_.end()) {
    if (chosen.known)
      machine.refuse(fmt::format("there is no command '{}'", chosen.text), chosen.place);
    return result;
  }
  match.leftover.erase(match.leftover.begin());
  return found->second->run(machine, std::move(match.leftover), more);
}

Value decorator(std::function<Value(const Value&)> change) {
  return native_function(
      "click.decorator", [change = std::move(change)](Machine&, const Arguments& arguments) {
        return arguments.positional.empty() ? Value{} : change(arguments.positional[0]);
      });
}

Value make_command(Machine& machine, const Arguments& arguments, bool group,
                   const std::shared_ptr<ClickCommand>& parent) {
  const std::string given = text_or(arguments.find("name", 0));
  const auto turn = [&machine, group, parent, given](const Value& function) {
    auto command = command_of(function);
    command->become_command(group);
    std::string name = given;
    if (const auto view = machine.function(command->function()); name.empty() && view)
      name = view->name;
    const std::string plain = name;
    std::ranges::replace(name, '_', '-');
    if (parent) parent->add(plain, command);
    if (parent) parent->add(name, command);
    return value_of(command, function.place);
  };
  const bool bare = !arguments.positional.empty() && arguments.positional[0].object() != nullptr;
  return bare ? turn(arguments.positional[0]) : decorator(turn);
}

std::optional<Value> ClickCommand::attribute(Machine&, std::string_view name) {
  const auto self = shared_from_this();
  if (name == "__call__" || name == "main") {
    return native_function("click.Command", [self](Machine& machine, const Arguments& arguments) {
      if (!self->is_command_) return machine.call(self->function_, arguments);
      const Value* own = arguments.find("args", 0);
      const bool given = own != nullptr && own->items() != nullptr;
      return self->run(machine, given ? as_words(machine, *own) : program_words(machine),
                       arguments);
    });
  }
  if (name == "command" || name == "group") {
    const bool group = name == "group";
    return native_function("click.Group.command",
                           [self, group](Machine& machine, const Arguments& arguments) {
                             return make_command(machine, arguments, group, self);
                           });
  }
  if (name == "add_command") {
    return native_function("add_command", [self](Machine& machine, const Arguments& arguments) {
      const Value* command = arguments.find("cmd", 0);
      if (command == nullptr || object_as<ClickCommand>(*command) == nullptr) return Value{};
      auto child = command_of(*command);
      const auto view = machine.function(child->function());
      std::string key = text_or(arguments.find("name", 1), view ? view->name : "");
      std::ranges::replace(key, '_', '-');
      self->add(std::move(key), std::move(child));
      return Value::none(arguments.place);
    });
  }
  if (name == "callback") return function_;
  return std::nullopt;
}

Value click_type(FlagType type, const Arguments& arguments) {
  auto made = std::make_shared<ClickType>();
  made->type = type;
  const Value* choices = type == FlagType::text ? arguments.find("choices", 0) : nullptr;
  if (choices != nullptr && choices->items() != nullptr) made->choices = *choices->items();
  return value_of(made, arguments.place);
}

}  // namespace

void add_click(NativeTable& table) {
  table["click.command"] = [](Machine& machine, const Arguments& arguments) {
    return make_command(machine, arguments, false, nullptr);
  };
  table["click.group"] = [](Machine& machine, const Arguments& arguments) {
    return make_command(machine, arguments, true, nullptr);
  };
  const auto adds = [](ClickParameter (*read)(const Arguments&)) {
    return [read](Machine&, const Arguments& arguments) {
      const ClickParameter parameter = read(arguments);
      return decorator([parameter](const Value& function) {
        auto command = command_of(function);
        command->put_first(parameter);
        return value_of(command, function.place);
      });
    };
  };
  table["click.option"] = adds(read_option);
  table["click.argument"] = adds(read_argument);
  table["click.pass_context"] = [](Machine&, const Arguments& arguments) {
    if (arguments.positional.empty()) return Value{};
    auto command = command_of(arguments.positional[0]);
    command->passes_context = true;
    return value_of(command, arguments.place);
  };
  for (const auto* const name : {"click.version_option", "click.help_option", "click.pass_obj"})
    table[name] = returns_first_argument;
  for (const auto& [name, type] : std::initializer_list<std::pair<const char*, FlagType>>{
           {"click.Choice", FlagType::text},
           {"click.IntRange", FlagType::integer},
           {"click.FloatRange", FlagType::real},
           {"click.Path", FlagType::text},
           {"click.File", FlagType::text}}) {
    table[name] = [type](Machine&, const Arguments& arguments) {
      return click_type(type, arguments);
    };
  }
}

}  // namespace schedmate::python::natives
