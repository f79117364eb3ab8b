// SPDX-License-Identifier: Apache-2.0
/// copy, functools, itertools, collections, re and what does nothing for a job's facts.
#include <algorithm>
#include <regex>

#include "python/natives/attribute_dict.hpp"
#include "python/natives/parts.hpp"
#include "python/objects/objects.hpp"

namespace schedmate::python::natives {
namespace {

constexpr std::size_t most_made_items = 2000;
constexpr std::size_t longest_source = 2000;

Value copy(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const Value& given = arguments.positional[0];
  if (auto* node = object_as<AttributeDict>(given)) {
    const auto method = node->attribute(machine, "copy");
    return method ? machine.call(*method, call_with({}, {}, arguments.place)) : given;
  }
  if (const auto* thing = object_as<Thing>(given)) {
    auto made = std::make_shared<Thing>(*thing);
    for (const auto& [key, value] : thing->fields.all()) made->fields.set(key, value.deep_copy());
    return value_of(std::move(made), given.place);
  }
  return given.deep_copy();
}

Value reduce(Machine& machine, const Arguments& arguments) {
  const Value* items = arguments.find("sequence", 1);
  if (items == nullptr || items->items() == nullptr || items->items()->size() > most_made_items)
    return unknown(arguments.place);
  List todo = *items->items();
  if (const Value* first = arguments.find("initial", 2)) todo.insert(todo.begin(), *first);
  if (todo.empty()) return unknown(arguments.place);
  Value result = todo.front();
  for (std::size_t i = 1; i < todo.size(); ++i)
    result = machine.call(arguments.positional[0], call_with({result, todo[i]}));
  return result;
}

/// All combinations, in Python's order.
Value product(Machine&, const Arguments& arguments) {
  std::vector<List> sources;
  for (const Value& each : arguments.positional) {
    if (each.items() == nullptr) return unknown(arguments.place);
    sources.push_back(*each.items());
  }
  const Value* repeat = arguments.named.find("repeat");
  if (repeat != nullptr && repeat->integer() != nullptr && sources.size() == 1)
    sources.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(*repeat->integer(), 0, 8)),
                   sources.front());
  std::vector<List> rows{{}};
  for (const List& source : sources) {
    std::vector<List> longer;
    for (const List& row : rows) {
      for (const Value& item : source) {
        if (longer.size() >= most_made_items) return unknown(arguments.place);
        longer.push_back(row);
        longer.back().push_back(item);
      }
    }
    rows = std::move(longer);
  }
  List all;
  for (List& row : rows) all.push_back(Value::list(std::move(row), arguments.place));
  return Value::list(std::move(all), arguments.place);
}

Value chain(Machine&, const Arguments& arguments) {
  List all;
  for (const Value& each : arguments.positional) {
    if (each.items() == nullptr || all.size() > most_made_items) return unknown(arguments.place);
    all.insert(all.end(), each.items()->begin(), each.items()->end());
  }
  return Value::list(std::move(all), arguments.place);
}

Value chain_from(Machine& machine, const Arguments& arguments) {
  const List* items = arguments.positional.empty() ? nullptr : arguments.positional[0].items();
  return items == nullptr ? unknown(arguments.place)
                          : chain(machine, call_with(*items, {}, arguments.place));
}

Value ordered(Machine&, const Arguments& arguments) {
  Dict all;
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    Value holder;
    if (const Dict* dict = dict_of(from, holder)) all = *dict;
    if (const List* pairs = from.items()) {
      for (const Value& pair : *pairs) {
        if (pair.items() != nullptr && pair.items()->size() == 2)
          all.set(key_text((*pair.items())[0]), (*pair.items())[1]);
      }
    }
    if (from.is_unknown()) return unknown(arguments.place);
  }
  for (const auto& [key, value] : arguments.named.all()) all.set(key, value);
  return Value::dict(std::move(all), arguments.place);
}

/// defaultdict(factory): reading a key makes it.
class DefaultDict : public AttributeDict {
 public:
  DefaultDict(Value factory, Value held)
      : AttributeDict({.type = "collections.defaultdict", .wraps_nested = false}, std::move(held)),
        factory_(std::move(factory)) {}

  std::optional<Value> item(Machine& machine, const Value& key) override {
    if (key.is_unknown()) return unknown();
    if (auto found = entry(machine, key_text(key))) return found;
    if (factory_.is_none()) return std::nullopt;
    Value made = machine.call(factory_, {});
    set_item(machine, key, made);
    return made;
  }

 private:
  Value factory_;
};

Value default_dict(Machine& machine, const Arguments& arguments) {
  Arguments rest = arguments;
  Value factory = Value::none();
  if (!rest.positional.empty()) {
    factory = rest.positional.front();
    rest.positional.erase(rest.positional.begin());
  }
  return value_of(std::make_shared<DefaultDict>(factory, ordered(machine, rest)), arguments.place);
}

/// namedtuple("Point", "x y"): a function that makes objects with these fields.
Value named_tuple(Machine&, const Arguments& arguments) {
  const std::string name = text_or(arguments.find("typename", 0));
  const Value* given = arguments.find("field_names", 1);
  std::vector<std::string> fields;
  if (given != nullptr && given->items() != nullptr) {
    for (const Value& each : *given->items()) fields.push_back(text_or(&each));
  } else {
    std::string word;
    for (const char letter : text_or(given) + " ") {
      if (letter != ' ' && letter != ',') {
        word += letter;
      } else if (!word.empty()) {
        fields.push_back(std::move(word));
        word.clear();
      }
    }
  }
  return native_function(name, [name, fields](Machine& machine, const Arguments& inner) {
    Dict values;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Value* value = inner.find(fields[i], i);
      values.set(fields[i], value == nullptr ? Value{} : *value);
    }
    return machine.instance(Value(name, inner.place), std::move(values));
  });
}

/// A pattern that both dialects read alike; nothing for others.
std::optional<std::regex> simple_pattern(const Value* pattern) {
  const std::string text = text_or(pattern);
  const bool plain = !text.empty() && text.size() < 200 && text.find("(?") == std::string::npos &&
                     text.find('{') == std::string::npos && text.find(")*") == std::string::npos &&
                     text.find(")+") == std::string::npos;
  if (!plain) return std::nullopt;
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

Value substitute(Machine&, const Arguments& arguments) {
  const auto pattern = simple_pattern(arguments.find("pattern", 0));
  const Value* with = arguments.find("repl", 1);
  const Value* text = arguments.find("string", 2);
  const bool known = pattern && with != nullptr && with->text() != nullptr && text != nullptr &&
                     text->text() != nullptr && text->text()->size() < longest_source &&
                     with->text()->find_first_of("\\$") == std::string::npos;
  if (!known) return unknown(arguments.place);
  return {std::regex_replace(*text->text(), *pattern, *with->text()), text->place};
}

struct Match : NativeObject {
  List groups;
  std::string type_name() const override { return "re.Match"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name == "groups") {
      const List rest(groups.begin() + 1, groups.end());
      return native_function("groups",
                             [rest](Machine&, const Arguments&) { return Value::list(rest); });
    }
    if (name != "group" && name != "__getitem__") return std::nullopt;
    return native_function("group", [all = groups](Machine&, const Arguments& arguments) {
      const Value* which = arguments.find("group", 0);
      const auto index = which == nullptr ? std::optional<double>(0) : which->number();
      const bool there = index && *index >= 0 && *index < static_cast<double>(all.size());
      return there ? all[static_cast<std::size_t>(*index)] : unknown(arguments.place);
    });
  }
};

Native matcher(bool from_start) {
  return [from_start](Machine&, const Arguments& arguments) {
    const auto pattern = simple_pattern(arguments.find("pattern", 0));
    const Value* text = arguments.find("string", 1);
    if (!pattern || text == nullptr || text->text() == nullptr ||
        text->text()->size() >= longest_source)
      return unknown(arguments.place);
    std::smatch found;
    const auto how =
        from_start ? std::regex_constants::match_continuous : std::regex_constants::match_default;
    if (!std::regex_search(*text->text(), found, *pattern, how))
      return Value::none(arguments.place);
    auto match = std::make_shared<Match>();
    for (const auto& group : found) match->groups.emplace_back(group.str(), text->place);
    return value_of(std::move(match), text->place);
  };
}

Value second(Machine&, const Arguments& arguments) {
  return arguments.positional.size() < 2 ? unknown(arguments.place) : arguments.positional[1];
}

void add_decorators(NativeTable& table) {
  for (const auto* const name : {"functools.lru_cache",
                                 "functools.cache",
                                 "functools.singledispatch",
                                 "abc.abstractmethod",
                                 "contextlib.contextmanager",
                                 "contextlib.ContextDecorator",
                                 "typing.overload",
                                 "typing.no_type_check",
                                 "typing.final",
                                 "typing_extensions.override",
                                 "torch.no_grad",
                                 "torch.inference_mode",
                                 "torch.enable_grad",
                                 "atexit.register",
                                 "enum.unique",
                                 "pytorch_lightning.utilities.rank_zero_only",
                                 "pytorch_lightning.utilities.rank_zero.rank_zero_only",
                                 "lightning.pytorch.utilities.rank_zero_only",
                                 "lightning.pytorch.utilities.rank_zero.rank_zero_only",
                                 "lightning_utilities.core.rank_zero.rank_zero_only",
                                 "lightning_fabric.utilities.rank_zero.rank_zero_only",
                                 "torch.distributed.elastic.multiprocessing.errors.record",
                                 "lightning.fabric.utilities.rank_zero_only",
                                 "typeguard.typechecked",
                                 "beartype.beartype",
                                 "ray.remote",
                                 "numba.jit",
                                 "numba.njit"}) {
    // Contexts of torch are called without a function too.
    table[name] = [](Machine& machine, const Arguments& arguments) {
      return returns_first_argument(machine, arguments);
    };
  }
}

}  // namespace

void add_functional(NativeTable& table) {
  for (const auto* const name : {"copy.copy", "copy.deepcopy"}) table[name] = copy;
  table["functools.reduce"] = reduce;
  table["itertools.product"] = product;
  table["itertools.chain"] = chain;
  table["itertools.chain.from_iterable"] = chain_from;
  table["collections.OrderedDict"] = ordered;
  table["collections.namedtuple"] = named_tuple;
  table["collections.defaultdict"] = default_dict;
  table["collections.Counter"] = [](Machine&, const Arguments& arguments) {
    return arguments.positional.empty() ? Value::dict({}, arguments.place)
                                        : unknown(arguments.place);
  };
  table["re.sub"] = substitute;
  table["re.match"] = matcher(true);
  table["re.search"] = matcher(false);
  for (const auto* const name : {"typing.cast", "typing.NewType"}) table[name] = second;
  for (const auto* const name :
       {"logging.basicConfig", "logging.info", "logging.warning", "logging.debug", "logging.error",
        "logging.disable", "logging.captureWarnings", "pprint.pprint"})
    table[name] = returns_none;
  add_decorators(table);
}

}  // namespace schedmate::python::natives

void schedmate::python::natives::add_standard_library(NativeTable& table) {
  natives::add_os(table);
  natives::add_paths(table);
  natives::add_path_managers(table);
  natives::add_math(table);
  natives::add_functional(table);
}
