// SPDX-License-Identifier: Apache-2.0
#include "python/natives/typed_flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int deepest_class = 8;

/// "src/conf/model.py" -> "src.conf.model".
std::string module_of(std::string_view file) {
  std::string name(file.substr(0, file.rfind('.')));
  std::ranges::replace(name, '/', '.');
  return name;
}

std::string dashed(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

bool is_required(const std::optional<Value>& fallback) {
  if (!fallback) return true;
  const auto* open = std::get_if<Unknown>(&fallback->data);
  return open != nullptr && open->may_be == nullptr && !fallback->place;
}

}  // namespace

void TypedFlags::name(TypedFlag& flag, const std::string& prefix, const std::string& field) const {
  const std::string full = style_.nested_names ? prefix + field : field;
  flag.path = prefix + field;
  flag.spec.dest = flag.path;
  const bool by_place =
      flag.hint.positional || (style_.required_by_place && is_required(flag.fallback));
  flag.spec.required = !by_place && is_required(flag.fallback);
  if (by_place) {
    if (!is_required(flag.fallback)) flag.spec.least = 0;
    return;
  }
  if (!style_.only_dashes) flag.spec.names.push_back("--" + full);
  if ((style_.dashes || style_.only_dashes) && (dashed(full) != full || style_.only_dashes))
    flag.spec.names.push_back("--" + dashed(full));
  if (!flag.hint.is_boolean() || style_.booleans == TypedStyle::Booleans::value) return;
  const auto dot = full.rfind('.') + 1;
  const std::string head = full.substr(0, dot);
  const std::string tail = full.substr(dot);
  flag.spec.negations = {"--" + head + "no-" + dashed(tail), "--" + head + "no_" + tail,
                         "--" + head + "no" + tail};
  if (style_.booleans == TypedStyle::Booleans::pair) {
    set_nargs(flag.spec, "0");
    if (is_required(flag.fallback)) set_nargs(flag.spec, "");
  } else {
    set_nargs(flag.spec, "?");
  }
}

void TypedFlags::add_parameter(const Parameter& parameter, const std::string& prefix,
                               const std::string& owner) {
  TypedFlag flag;
  flag.hint = parameter.annotation.empty() && parameter.fallback
                  ? hint_of_value(*parameter.fallback)
                  : read_type_hint(parameter.annotation);
  flag.fallback = parameter.fallback;
  flag.owner = owner;
  flag.place = parameter.place;
  if (flag.hint.is_list && style_.words_as_lists)
    set_nargs(flag.spec, flag.hint.count > 0 ? std::to_string(flag.hint.count) : "*");
  name(flag, prefix, parameter.name);
  flags_.push_back(std::move(flag));
}

void TypedFlags::add(Machine& machine, const FunctionView& function) {
  for (const Parameter& parameter : function.parameters) {
    if (parameter.kind == Parameter::Kind::star || parameter.kind == Parameter::Kind::double_star)
      continue;
    const ClassView nowhere{"", parameter.place ? parameter.place->file : "", {}, {}, {}};
    Value type;
    if (const auto inner = nested_class(machine, nowhere, parameter, type)) {
      classes_[parameter.name] = type;
      add(machine, *inner, parameter.name + ".");
    } else if (parameter.name != "self") {
      add_parameter(parameter, "", "");
    }
  }
}

std::optional<ClassView> TypedFlags::nested_class(Machine& machine, const ClassView& owner,
                                                  const Parameter& field, Value& type) const {
  const auto* instance =
      field.fallback ? object_as<Instance>(*field.fallback) : static_cast<Instance*>(nullptr);
  const std::string written = read_type_hint(field.annotation).class_name;
  const std::string name = instance != nullptr ? instance->type : written;
  const std::string file = instance != nullptr ? instance->file : owner.file;
  if (name.empty() || file.empty() || depth_ >= deepest_class) return std::nullopt;
  type = machine.resolve(module_of(file) + "." + name);
  auto view = machine.type(type);
  if (!view || view->fields.empty()) return std::nullopt;
  for (const std::string& base : view->bases) {
    if (base.ends_with("Enum")) return std::nullopt;
  }
  // What the default instance holds stands above the defaults of its class.
  for (Parameter& inner : view->fields) {
    const Value* held = instance == nullptr ? nullptr : instance->fields.find(inner.name);
    if (held != nullptr) inner.fallback = *held;
  }
  return view;
}

void TypedFlags::add(Machine& machine, const ClassView& type, const std::string& prefix) {
  ++depth_;
  for (const Parameter& field : type.fields) {
    Value inner_type;
    if (field.annotation.find("ClassVar") != std::string::npos) continue;
    if (const auto inner = nested_class(machine, type, field, inner_type)) {
      classes_[prefix + field.name] = inner_type;
      add(machine, *inner, prefix + field.name + ".");
    } else {
      add_parameter(field, prefix, type.name);
    }
  }
  --depth_;
}

void TypedFlags::overlay(const Value& settings) {
  for (TypedFlag& flag : flags_) {
    if (const Value* value = find_path(settings, flag.path)) {
      flag.fallback = *value;
      flag.spec.required = false;
    }
  }
}

Value TypedFlags::read(Machine& machine, const TypedFlag& flag, const FlagUse& use) const {
  if (flag.hint.is_boolean() && use.values.empty()) return {!use.negated, use.place};
  const auto one = [&](const command::Word& word) -> Value {
    if (flag.hint.optional && (word.text == "None" || word.text == "null"))
      return Value::none(word.place);
    const auto value = read_word(flag.hint.type, word);
    const auto& choices = flag.hint.choices;
    const bool allowed =
        choices.empty() || !word.known || std::ranges::find(choices, word.text) != choices.end();
    if (value && allowed) return *value;
    machine.refuse(fmt::format("the flag {}: {}", use.name,
                               value ? "'" + word.text + "' is not one of its choices"
                                     : value.error().message),
                   word.place);
    return unknown(word.place);
  };
  if (!flag.hint.is_list) return use.values.empty() ? Value(true, use.place) : one(use.values[0]);
  if (use.values.size() == 1 && use.values[0].text.starts_with('['))
    return read_literal(use.values[0].text, use.place);
  List items;
  for (const command::Word& word : use.values) items.push_back(one(word));
  return Value::list(std::move(items), use.place);
}

TypedValues TypedFlags::parse(Machine& machine, const std::vector<command::Word>& words) const {
  std::vector<FlagSpec> specs;
  TypedValues result;
  for (const TypedFlag& flag : flags_) {
    specs.push_back(flag.spec);
    Value fallback = flag.fallback.value_or(Value{});
    const bool of_file = fallback.place && fallback.place->source == FactSource::config;
    result.values.push_back({of_file ? fallback : as_fallback(fallback, flag.place), false});
  }
  FlagSyntax syntax;
  syntax.abbreviations = style_.abbreviations;
  FlagMatch match = match_flags(specs, words, syntax);
  for (const FlagUse& use : match.uses) {
    const TypedFlag& flag = flags_[use.spec];
    if (flag.spec.names.empty() && use.values.empty()) continue;
    result.values[use.spec] = {read(machine, flag, use), true};
  }
  result.leftover = std::move(match.leftover);
  result.certain = match.certain;
  for (const FlagError& error : match.errors) {
    if (match.certain) machine.refuse(error.message, error.place);
  }
  return result;
}

void TypedFlags::show(Machine& machine, const TypedValues& values) const {
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const TypedFlag& flag = flags_[i];
    const Value fallback = as_fallback(flag.fallback.value_or(Value{}), flag.place);
    publish(machine, {flag.path, values.values[i].value, fallback, values.values[i].given, true,
                      flag.owner, flag.place});
  }
}

Dict TypedFlags::fields(Machine& machine, const TypedValues& values,
                        const std::string& prefix) const {
  Dict result;
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const std::string& path = flags_[i].path;
    if (!path.starts_with(prefix)) continue;
    const std::string rest = path.substr(prefix.size());
    const auto dot = rest.find('.');
    if (dot == std::string::npos) {
      result.set(rest, values.values[i].value);
      continue;
    }
    const std::string name = rest.substr(0, dot);
    if (result.find(name) != nullptr) continue;
    const auto type = classes_.find(prefix + name);
    Dict inner = fields(machine, values, prefix + name + ".");
    result.set(name, type == classes_.end() ? Value::dict(std::move(inner))
                                            : machine.instance(type->second, inner));
  }
  return result;
}

Value run_typed(Machine& machine, const Value& target, TypedFlags flags,
                const std::vector<command::Word>& words) {
  const auto type = machine.type(target);
  const auto function = type ? std::nullopt : machine.function(target);
  if (!type && !function) return {};
  if (type) flags.add(machine, *type);
  if (function) flags.add(machine, *function);
  const TypedValues values = flags.parse(machine, words);
  flags.show(machine, values);
  if (!values.leftover.empty() && values.certain && values.leftover.front().known)
    machine.refuse(
        fmt::format("no flag or positional argument takes '{}'", values.leftover.front().text),
        values.leftover.front().place);
  Dict fields = flags.fields(machine, values);
  if (type) return machine.instance(target, std::move(fields));
  return machine.call(target, call_with({}, std::move(fields)));
}

Dict loose_flags(const std::vector<command::Word>& words) {
  Dict result;
  for (std::size_t i = 0; i < words.size();) {
    const command::Word& head = words[i++];
    if (!head.text.starts_with("--")) continue;
    const auto equals = head.text.find('=');
    std::string name = head.text.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::ranges::replace(name, '-', '_');
    std::vector<command::Word> values;
    if (equals != std::string::npos)
      values.push_back({head.text.substr(equals + 1), head.place, head.known});
    while (i < words.size() && !words[i].text.starts_with("--")) values.push_back(words[i++]);
    const auto read = [](const command::Word& word) {
      return word.known ? read_literal(word.text, word.place) : Value(word.text, word.place);
    };
    if (values.empty()) {
      result.set(name, {true, head.place});
    } else if (values.size() == 1) {
      result.set(name, read(values[0]));
    } else {
      List items;
      for (const command::Word& word : values) items.push_back(read(word));
      result.set(name, Value::list(std::move(items), head.place));
    }
  }
  return result;
}

}  // namespace schedmate::python::natives
