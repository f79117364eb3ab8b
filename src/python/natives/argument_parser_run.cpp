// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "python/natives/argument_parser.hpp"
#include "python/objects/journal.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int most_file_nesting = 8;

/// A config's scalar as the word that would be typed for it.
command::Word as_word(const Value& value) {
  const std::string* text = value.text();
  return {text == nullptr ? repr(value) : *text, value.place, !value.is_unknown()};
}

std::vector<command::Word> values_of(const Value& value) {
  std::vector<command::Word> words;
  if (const List* list = value.items()) {
    for (const Value& item : *list) words.push_back(as_word(item));
  } else {
    words.push_back(as_word(value));
  }
  return words;
}

const Value* setting_for(const FlagSpec& spec, const Dict& settings) {
  for (const std::string& name : spec.names) {
    const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    if (const Value* found = settings.find(bare)) return found;
  }
  return settings.find(spec.dest);
}

}  // namespace

/// Words such as @flags.txt stand for the lines of that file.
std::vector<command::Word> ArgumentParser::expand_files(
    Machine& machine, const std::vector<command::Word>& words) const {
  if (file_prefix_.empty()) return words;
  std::vector<command::Word> todo(words.rbegin(), words.rend());
  std::vector<command::Word> out;
  int files = 0;
  while (!todo.empty()) {
    command::Word word = std::move(todo.back());
    todo.pop_back();
    const bool is_file = !word.text.empty() && file_prefix_.find(word.text[0]) != std::string::npos;
    if (!is_file || ++files > most_file_nesting) {
      out.push_back(std::move(word));
      continue;
    }
    const auto path = tree_path(machine, std::string_view(word.text).substr(1));
    const auto file = path ? machine.tree().read(*path) : fail(ErrorCode::not_found, "");
    if (!file) continue;
    for (int line = (*file)->lines(); line > 0; --line) {
      const std::string text((*file)->line(line));
      const Place place{*path, line, std::string(trim(text)), FactSource::config, word.place};
      todo.push_back({text, std::make_shared<const Place>(place), true});
    }
  }
  return out;
}

std::vector<FlagSpec> ArgumentParser::specs() const {
  std::vector<FlagSpec> specs;
  for (const Declared& flag : declared_) specs.push_back(flag.spec);
  return specs;
}

void ArgumentParser::fail_with(Machine& machine, std::string reason, PlacePtr place) const {
  machine.refuse(std::move(reason), std::move(place));
}

Value ArgumentParser::read_one(Machine& machine, const Declared& flag, const command::Word& word) {
  auto value = convert(machine, flag.type, word);
  const std::string name = flag.spec.names.empty() ? flag.spec.dest : flag.spec.names.back();
  if (!value) {
    fail_with(machine, fmt::format("the flag {}: {}", name, value.error().message), word.place);
    return unknown(word.place);
  }
  const bool open = flag.choices.empty() || !word.known || value->is_unknown() ||
                    value->object() != nullptr ||
                    std::ranges::any_of(flag.choices, [&](const Value& choice) {
                      return choice.is_unknown() || repr(choice) == repr(*value);
                    });
  if (!open)
    fail_with(machine, fmt::format("the flag {} may not be '{}'", name, word.text), word.place);
  return *value;
}

Value ArgumentParser::read_values(Machine& machine, const Declared& flag, const FlagUse& use) {
  if (flag.action == "DictAction") {
    Value dict = Value::dict({}, use.place);
    for (const command::Word& word : use.values) {
      const auto equals = word.text.find('=');
      if (equals == std::string::npos) continue;
      dict.entries()->set(word.text.substr(0, equals),
                          read_literal(word.text.substr(equals + 1), word.place));
    }
    return dict;
  }
  if (flag.one_value && !use.values.empty()) return read_one(machine, flag, use.values.front());
  List values;
  for (const command::Word& word : use.values) values.push_back(read_one(machine, flag, word));
  return Value::list(std::move(values), use.place);
}

void ArgumentParser::put_defaults(Machine& machine, Parsed& parsed) const {
  for (const Declared& flag : declared_) {
    if (flag.suppressed || flag.action == "help" || flag.action == "version") continue;
    if (parsed.values.find(flag.spec.dest) != nullptr && flag.fallback.is_none()) continue;
    Value value = flag.fallback;
    if (const std::string* text = value.text(); text != nullptr && !flag.type.is_none()) {
      auto converted = convert(machine, flag.type, {*text, value.place, true});
      if (converted) value = std::move(*converted);
    }
    if (defaults_open_) value = joined(value, {});
    if (flag.spec.dest != "==SUPPRESS==") parsed.values.set(flag.spec.dest, value.deep_copy());
  }
  for (const auto& [name, value] : defaults_.all()) {
    if (parsed.values.find(name) == nullptr) parsed.values.set(name, value);
  }
}

void ArgumentParser::apply_command(Machine& machine, const FlagUse& use, Parsed& parsed) {
  if (use.values.empty()) return;
  const command::Word& chosen = use.values.front();
  const std::string dest = declared_[use.spec].spec.dest;
  if (dest != "==SUPPRESS==") parsed.values.set(dest, Value(chosen.text, chosen.place));
  parsed.given.insert(dest);
  const auto found = commands_.find(chosen.text);
  if (found == commands_.end()) {
    if (chosen.known)
      fail_with(machine, fmt::format("there is no command '{}'", chosen.text), chosen.place);
    return;
  }
  const std::vector<command::Word> rest(use.values.begin() + 1, use.values.end());
  Parsed inner = found->second->parse(machine, rest);
  for (const auto& [key, value] : inner.values.all()) parsed.values.set(key, value);
  for (command::Word& word : inner.leftover) parsed.leftover.push_back(std::move(word));
  parsed.given.merge(inner.given);
}

void ArgumentParser::apply(Machine& machine, const FlagUse& use, Parsed& parsed) {
  const Declared flag = declared_[use.spec];
  const std::string& action = flag.action;
  if (action == "command") return apply_command(machine, use, parsed);
  if (flag.spec.names.empty() && use.values.empty() && flag.spec.least == 0) {
    if (!flag.one_value && flag.fallback.is_none())
      parsed.values.set(flag.spec.dest, Value::list({}, flag.place));
    return;
  }
  parsed.given.insert(flag.spec.dest);
  if (action == "help" || action == "version")
    return fail_with(machine, fmt::format("{} only prints and exits", use.name), use.place);
  Value* held = parsed.values.find(flag.spec.dest);
  const Value before = held == nullptr ? Value::none() : held->deep_copy();
  Value value = placed(flag.constant, use.place);
  value.place = use.place;
  if (action == "BooleanOptionalAction") value = {!use.negated, use.place};
  if (action == "count")
    value = {static_cast<std::int64_t>(before.number().value_or(0)) + 1, use.place};
  const bool empty_choice = use.values.empty() && flag.one_value && flag.spec.least == 0;
  if (flag.spec.most > 0 && !empty_choice) value = read_values(machine, flag, use);
  if (action == "append" || action == "append_const" || action == "extend") {
    List all = before.items() == nullptr ? List{} : *before.items();
    const List* more = action == "extend" ? value.items() : nullptr;
    if (more != nullptr) all.insert(all.end(), more->begin(), more->end());
    if (more == nullptr) all.push_back(value);
    value = Value::list(std::move(all), use.place);
  }
  if (action == "user") return apply_user(machine, use, std::move(value), parsed);
  parsed.values.set(flag.spec.dest, std::move(value));
}

/// A class of the program: it writes what it likes into the namespace.
void ArgumentParser::apply_user(Machine& machine, const FlagUse& use, Value value, Parsed& parsed) {
  const Declared flag = declared_[use.spec];
  Dict fields;
  fields.set("dest", Value(flag.spec.dest, flag.place));
  fields.set("const", flag.constant);
  fields.set("default", flag.fallback);
  const Value self = machine.instance(flag.action_class, std::move(fields));
  auto target = std::make_shared<FlagNamespace>();
  for (const auto& [key, old] : parsed.values.all()) target->put(key, old);
  List arguments{value_of(shared_from_this()), value_of(target), std::move(value),
                 Value(use.name, use.place)};
  machine.call(machine.attribute(self, "__call__"), call_with(std::move(arguments), {}, use.place));
  parsed.values = target->entries();
}

/// configargparse: settings of the files named by a flag stand below the command's words.
void ArgumentParser::apply_config_files(Machine& machine, Parsed& parsed) {
  for (const Declared& flag : declared_) {
    const Value* named = flag.config_file ? parsed.values.find(flag.spec.dest) : nullptr;
    const auto path = named == nullptr || named->text() == nullptr
                          ? std::nullopt
                          : tree_path(machine, *named->text());
    if (!path) continue;
    auto settings = config::read_config(machine.tree(), *path);
    if (!settings) {
      // `key = value` without sections, under a name that does not say so.
      const auto file = machine.tree().read(*path);
      if (file) settings = config::parse_config((*file)->text, config::ConfigFormat::ini, *path);
      if (!settings) machine.tree().degrade(settings.error().message);
    }
    if (!settings || settings->entries() == nullptr) continue;
    publish_config(machine, "configargparse", *path, *settings);
    apply_settings(machine, *settings->entries(), parsed);
  }
}

void ArgumentParser::apply_settings(Machine& machine, const Dict& settings, Parsed& parsed) {
  const auto on_command = parsed.given;
  for (std::size_t i = 0; i < declared_.size(); ++i) {
    const Value* value = setting_for(declared_[i].spec, settings);
    if (value == nullptr || on_command.contains(declared_[i].spec.dest)) continue;
    FlagUse use{i, {}, declared_[i].spec.dest, false, value->place};
    if (declared_[i].spec.most > 0) use.values = values_of(*value);
    const bool off = declared_[i].spec.most == 0 && !value->truth().value_or(false);
    if (!off) apply(machine, use, parsed);
  }
}

void ArgumentParser::check_exclusive(Machine& machine, const Parsed& parsed) const {
  for (const Exclusive& group : exclusive_) {
    const auto count = std::ranges::count_if(group.members, [&](std::size_t index) {
      return index < declared_.size() && parsed.given.contains(declared_[index].spec.dest);
    });
    if (count > 1) fail_with(machine, "flags that exclude each other are given", {});
    if (count == 0 && group.required && parsed.certain)
      fail_with(machine, "one of several flags is required and none is given", {});
  }
}

/// Words that look like flags and their values are those of flags that were not seen.
void ArgumentParser::take_unseen_flags(Parsed& parsed) const {
  const auto& words = parsed.leftover;
  const auto is_flag = [&](const command::Word& word) {
    return word.text.starts_with("--") && word.text.size() > 2 && word.known;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_flag(words[i])) continue;
    const std::string_view text = std::string_view(words[i].text).substr(2);
    const auto equals = std::min(text.find('='), text.size());
    std::string dest(text.substr(0, equals));
    std::ranges::replace(dest, '-', '_');
    Value value(true, words[i].place);
    if (equals < text.size()) {
      value = config::parse_scalar(text.substr(equals + 1), words[i].place);
    } else if (i + 1 < words.size() && !words[i + 1].text.starts_with("--")) {
      const command::Word& next = words[++i];
      value = next.known ? config::parse_scalar(next.text, next.place) : unknown(next.place);
    }
    parsed.values.set(dest, std::move(value));
    parsed.given.insert(std::move(dest));
  }
}

void ArgumentParser::report(Machine& machine, const FlagMatch& match, const Parsed& parsed) {
  for (const FlagError& error : match.errors) {
    if (parsed.certain) fail_with(machine, error.message, error.place);
  }
}

ArgumentParser::Parsed ArgumentParser::parse(Machine& machine,
                                             const std::vector<command::Word>& words) {
  Parsed parsed;
  const auto all = expand_files(machine, words);
  FlagMatch match = match_flags(specs(), all, syntax_);
  parsed.certain = match.certain;
  put_defaults(machine, parsed);
  for (const FlagUse& use : match.uses) apply(machine, use, parsed);
  for (command::Word& word : match.leftover) parsed.leftover.push_back(std::move(word));
  if (open_) take_unseen_flags(parsed);
  apply_config_files(machine, parsed);
  std::erase_if(match.errors, [&](const FlagError& error) {
    return !error.place && std::ranges::any_of(declared_, [&](const Declared& flag) {
      return flag.spec.required && parsed.given.contains(flag.spec.dest) &&
             error.message.find(flag.spec.names.front()) != std::string::npos;
    });
  });
  report(machine, match, parsed);
  check_exclusive(machine, parsed);
  return parsed;
}

std::shared_ptr<FlagNamespace> as_namespace(Machine& machine, const ArgumentParser& parser,
                                            const ArgumentParser::Parsed& parsed) {
  auto result = std::make_shared<FlagNamespace>();
  for (const auto& [name, value] : parsed.values.all()) {
    const auto declared = std::ranges::find_if(
        parser.declared(), [&](const Declared& flag) { return flag.spec.dest == name; });
    Flag flag;
    flag.name = name;
    flag.value = value;
    flag.given = parsed.given.contains(name);
    if (declared != parser.declared().end()) {
      flag.fallback = declared->fallback;
      flag.declared = declared->place;
    } else {
      flag.declared = value.place;
    }
    result->put(name, value, publish(machine, std::move(flag)));
  }
  return result;
}

Value parse_program(Machine& machine, ArgumentParser& parser, const Arguments& arguments,
                    bool known) {
  const Value* given = arguments.find("args", 0);
  const Value* target = arguments.find("namespace", 1);
  if (given != nullptr && given->is_unknown()) return unknown(arguments.place);
  const bool own = given != nullptr && !given->is_none();
  auto parsed = parser.parse(machine, own ? as_words(machine, *given) : program_words(machine));
  if (!known && !parsed.leftover.empty() && parsed.certain && !parser.is_open()) {
    const command::Word& first = parsed.leftover.front();
    if (first.known)
      machine.refuse(fmt::format("no flag or positional argument takes '{}'", first.text),
                     first.place);
  }
  if (!own) machine.seen().leftover = parsed.leftover;
  const auto space = as_namespace(machine, parser, parsed);
  Value result = value_of(space, arguments.place);
  if (target != nullptr && target->object() != nullptr) {
    for (const auto& [name, value] : parsed.values.all()) {
      auto* before = object_as<AttributeDict>(*target);
      const bool keep = before != nullptr && !parsed.given.contains(name) &&
                        before->entries().find(name) != nullptr;
      if (!keep) machine.set_attribute(*target, name, value);
    }
    result = *target;
  }
  if (!known) return result;
  return Value::list({result, as_list(parsed.leftover)}, arguments.place);
}

}  // namespace schedmate::python::natives
