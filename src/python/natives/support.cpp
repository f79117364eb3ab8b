// SPDX-License-Identifier: Apache-2.0
#include "python/natives/support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"
#include "python/natives/file_object.hpp"

namespace schedmate::python::natives {
namespace {

/// As Python's int() and float() read it: blanks around, a plus sign, `_` between digits.
std::string plain_number(std::string_view text) {
  std::string out(trim(text));
  if (out.starts_with('+')) out.erase(0, 1);
  std::erase(out, '_');
  return out;
}

Result<Value> read_yes_no(const command::Word& word) {
  static constexpr std::array yes{"yes", "true", "t", "y", "1", "on"};
  static constexpr std::array no{"no", "false", "f", "n", "0", "off"};
  const std::string text = lower_case(trim(word.text));
  if (std::ranges::find(yes, text) != yes.end()) return Value(true, word.place);
  if (std::ranges::find(no, text) != no.end()) return Value(false, word.place);
  return fail(ErrorCode::invalid, fmt::format("'{}' is neither true nor false", word.text));
}

std::optional<FlagType> builtin_type(std::string_view name) {
  static const std::map<std::string_view, FlagType> types{{"str", FlagType::text},
                                                          {"int", FlagType::integer},
                                                          {"float", FlagType::real},
                                                          {"bool", FlagType::truthy},
                                                          {"eval", FlagType::literal},
                                                          {"ast.literal_eval", FlagType::literal},
                                                          {"pathlib.Path", FlagType::text},
                                                          {"os.path.abspath", FlagType::text},
                                                          {"os.path.expanduser", FlagType::text}};
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string symbol_name(const Value& value) {
  std::string name;
  if (const auto* symbol = object_as<Symbol>(value)) name = symbol->name;
  if (const auto* function = object_as<NativeFunction>(value)) name = function->name;
  if (name.starts_with("builtins.")) name.erase(0, 9);
  return name;
}

std::string text_or(const Value* value, std::string_view otherwise) {
  const std::string* text = value == nullptr ? nullptr : value->text();
  return text == nullptr ? std::string(otherwise) : *text;
}

bool truth_or(const Value* value, bool otherwise) {
  return value == nullptr ? otherwise : value->truth().value_or(otherwise);
}

std::optional<std::string> path_text(const Value& value) {
  if (const std::string* text = value.text()) return *text;
  auto* object = object_as<NativeObject>(value);
  if (object == nullptr) return std::nullopt;
  const auto plain = object->plain();
  if (!plain || plain->text() == nullptr) return std::nullopt;
  return *plain->text();
}

Dict* dict_of(const Value& value, Value& holder) {
  if (Dict* dict = value.entries()) return dict;
  if (auto* instance = object_as<Instance>(value)) return &instance->fields;
  if (auto* object = object_as<NativeObject>(value)) {
    if (auto plain = object->plain()) {
      holder = std::move(*plain);
      return holder.entries();
    }
  }
  return nullptr;
}

Arguments call_with(List positional, Dict named, PlacePtr place) {
  return {std::move(positional), std::move(named), std::move(place), true};
}

Value unknown(PlacePtr place) { return {Unknown{}, std::move(place)}; }

Value placed(Value value, const PlacePtr& place) {
  if (!value.place) value.place = place;
  return value;
}

Value as_fallback(Value value, const PlacePtr& declared) {
  if (!declared) return value;
  Place place = *declared;
  place.source = FactSource::fallback;
  const bool elsewhere =
      value.place && (value.place->file != declared->file || value.place->line != declared->line);
  place.from = elsewhere ? value.place : nullptr;
  value.place = std::make_shared<const Place>(std::move(place));
  return value;
}

Value from_request(std::int64_t number, std::string_view what) {
  Place place{"<request>", 0, fmt::format("{} {}", what, number), FactSource::environment, {}};
  return {number, std::make_shared<const Place>(std::move(place))};
}

Value read_literal(std::string_view text, const PlacePtr& place) {
  const std::string_view word = trim(text);
  if (word == "None") return Value::none(place);
  if (word.size() > 1 && word.front() == '(' && word.back() == ')') {
    const std::string inside(word.substr(1, word.size() - 2));
    return config::parse_scalar("[" + inside + "]", place);
  }
  const std::string number = plain_number(word);
  if (const auto whole = parse_number<std::int64_t>(number)) return {*whole, place};
  // YAML wants a point and a sign in an exponent; Python and people do not.
  const bool digit = !number.empty() && std::isalpha(static_cast<unsigned char>(number[0])) == 0;
  if (const auto real = parse_number<double>(number); real && digit) return {*real, place};
  const std::string small = lower_case(word);
  static constexpr std::array only_yaml{"yes", "no", "on", "off", "y", "n", "null", "~"};
  if (std::ranges::find(only_yaml, small) != only_yaml.end()) return {std::string(text), place};
  return config::parse_scalar(text, place);
}

Result<Value> read_word(FlagType type, const command::Word& word) {
  if (type == FlagType::text) return Value(word.text, word.place);
  if (!word.known) return unknown(word.place);
  switch (type) {
    case FlagType::integer:
      if (const auto number = parse_number<std::int64_t>(plain_number(word.text)))
        return Value(*number, word.place);
      return fail(ErrorCode::invalid, fmt::format("'{}' is not an integer", word.text));
    case FlagType::real:
      if (const auto number = parse_number<double>(plain_number(word.text)))
        return Value(*number, word.place);
      return fail(ErrorCode::invalid, fmt::format("'{}' is not a number", word.text));
    case FlagType::truthy:
      return Value(!word.text.empty(), word.place);
    case FlagType::yes_no:
      return read_yes_no(word);
    default:
      return read_literal(word.text, word.place);
  }
}

Result<Value> convert(Machine& machine, const Value& type, const command::Word& word) {
  if (type.is_none()) return read_word(FlagType::text, word);
  if (const auto builtin = builtin_type(symbol_name(type))) return read_word(*builtin, word);
  if (type.is_unknown()) return unknown(word.place);
  Value result = machine.call(type, call_with({Value(word.text, word.place)}, {}, word.place));
  if (const auto* made = object_as<Made>(result); made != nullptr) {
    const Value text(word.text, word.place);
    return made->callee.contains("FileType") ? open_file(machine, text, word.place) : text;
  }
  return placed(std::move(result), word.place);
}

std::vector<command::Word> as_words(Machine& machine, const Value& list) {
  std::vector<command::Word> words;
  const List* items = list.items();
  if (items == nullptr) return words;
  for (const Value& item : *items) {
    const auto& given = machine.run().args;
    const std::string* text = item.text();
    const auto same = std::ranges::find_if(given, [&](const command::Word& word) {
      return text != nullptr && word.text == *text && word.place == item.place;
    });
    const bool known = same == given.end() ? text != nullptr : same->known;
    words.push_back({text == nullptr ? "$?" : *text, item.place, known});
  }
  return words;
}

std::vector<command::Word> program_words(Machine& machine) {
  const Value argv = machine.resolve("sys.argv");
  if (argv.items() == nullptr || argv.items()->empty()) return machine.run().args;
  auto words = as_words(machine, argv);
  words.erase(words.begin());
  return words;
}

Value as_list(const std::vector<command::Word>& words) {
  List items;
  for (const command::Word& word : words) items.emplace_back(word.text, word.place);
  return Value::list(std::move(items));
}

std::size_t publish(Machine& machine, Flag flag) {
  auto& flags = machine.seen().flags;
  const auto old = std::ranges::find_if(flags, [&](const Flag& other) {
    return other.name == flag.name && other.owner == flag.owner;
  });
  if (old == flags.end()) {
    flags.push_back(std::move(flag));
    return flags.size() - 1;
  }
  flag.read = flag.read || old->read;
  *old = std::move(flag);
  return static_cast<std::size_t>(old - flags.begin());
}

void publish_config(Machine& machine, std::string_view how, std::string_view file, Value value) {
  machine.seen().configs.push_back({std::string(how), std::string(file), std::move(value)});
}

Dict environment_of(Machine& machine) {
  Dict all;
  for (const auto& [name, word] : machine.run().env)
    all.set(name, word.known ? Value(word.text, word.place) : unknown(word.place));
  return all;
}

std::optional<std::string> tree_path(Machine& machine, std::string_view path) {
  tree::Tree& tree = machine.tree();
  const auto here = tree.locate(machine.run().cwd, path);
  const auto from_root = tree.locate("", path);
  const auto is_there = [&](const Result<std::string>& found) {
    return found && (tree.is_file(*found) || tree.is_folder(*found));
  };
  // Paths made from __file__ start at the root, others at the program's folder.
  if (!is_there(here) && is_there(from_root)) return *from_root;
  return here ? std::optional(*here) : std::nullopt;
}

Value returns_first_argument(Machine&, const Arguments& arguments) {
  if (arguments.positional.size() == 1 && arguments.named.empty() &&
      arguments.positional[0].object() != nullptr)
    return arguments.positional[0];
  return native_function("decorator", [](Machine&, const Arguments& inner) {
    return inner.positional.empty() ? Value{} : inner.positional[0];
  });
}

std::vector<command::Word> given_words(Machine& machine, const Arguments& arguments) {
  const Value* own = arguments.named.find("args");
  if (own == nullptr) own = arguments.named.find("argv");
  return own != nullptr && own->items() != nullptr ? as_words(machine, *own)
                                                   : program_words(machine);
}

Value returns_none(Machine&, const Arguments& arguments) { return Value::none(arguments.place); }

Value gives_first(Machine&, const Arguments& arguments) {
  return arguments.positional.empty() ? unknown(arguments.place) : arguments.positional[0];
}

}  // namespace schedmate::python::natives
