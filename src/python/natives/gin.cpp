// SPDX-License-Identifier: Apache-2.0
/// gin: bindings of files and the command become the defaults of the functions that the program
/// calls configurable. Bindings of a scope count where that scope is named (`@train/make()`).
#include "config/gin.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/support.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int deepest_reference = 8;
constexpr std::size_t most_bindings = 4000;
constexpr int most_reads = 40'000;  ///< of values, with those that they refer to

std::string last_of(std::string_view name) { return std::string(name.substr(name.rfind('.') + 1)); }

class Gin;
std::shared_ptr<Gin> gin_of(Machine& machine);

class Gin : public Object {
 public:
  void add(Machine& machine, const std::string& name, const Value& what) {
    names_.insert_or_assign(name, what);
    if (!bound_.empty()) apply(machine, name);
  }
  void search(std::string folder) { folders_.push_back(std::move(folder)); }

  void read_file(Machine& machine, std::string_view path, int depth = 0) {
    std::vector<std::string> tried{std::string(path)};
    for (const auto& folder : folders_) tried.push_back(folder + "/" + std::string(path));
    for (const auto& each : tried) {
      const auto file = tree_path(machine, each);
      if (!file || depth > deepest_reference || !machine.tree().is_file(*file)) continue;
      const auto text = machine.tree().read(*file);
      if (!text) return;
      if (file_.empty()) file_ = *file;
      take(machine, config::parse_gin((*text)->text, *file), depth);
      return;
    }
    machine.tree().degrade(std::string(path) + " is not in the tree: what it sets is not known");
  }
  void read_text(Machine& machine, const Value& text) {
    if (text.text() != nullptr) take(machine, config::parse_gin(*text.text(), "", text.place), 0);
  }
  void bind(const std::string& key, const Value& value) {
    auto parsed = config::parse_gin(key + " = 0", "", value.place);
    if (parsed.empty()) return;
    bound_.push_back({std::move(parsed.front()), value});
  }

  /// Defaults of all that is named so far; references that are called come last, so that what they
  /// make has its own defaults by then.
  void apply(Machine& machine, std::string_view only = "") {
    for (const bool calls : {false, true}) {
      for (const Bound& bound : std::vector(bound_)) {
        if (reads_ > most_reads) return;
        const config::GinStatement& at = bound.statement;
        const auto found = names_.find(at.selector);
        const bool is_call = at.value.contains("()");
        if (!at.scope.empty() || at.kind != config::GinStatement::Kind::binding ||
            is_call != calls || found == names_.end() || (!only.empty() && only != at.selector))
          continue;
        machine.set_default(found->second, at.parameter, value_of_bound(machine, bound));
      }
    }
  }

  /// Fields of configurable classes are settings with defaults.
  void publish_fields(Machine& machine) {
    for (const auto& [name, what] : names_) {
      const auto view = machine.type(what);
      if (!view) continue;
      for (const Parameter& each : view->fields) {
        if (each.fallback && each.fallback->object() == nullptr)
          natives::publish(
              machine, {each.name, *each.fallback, *each.fallback, false, true, name, each.place});
      }
    }
  }

  /// All bindings as a config, for those that look for names.
  void publish(Machine& machine) {
    Value all = Value::dict({});
    // What a binding calls may bind more.
    for (const Bound& bound : std::vector(bound_)) {
      const config::GinStatement& at = bound.statement;
      if (!at.scope.empty() && !at.scope.contains("train")) continue;
      const std::string key = at.kind == config::GinStatement::Kind::macro
                                  ? at.parameter
                                  : at.selector + "." + at.parameter;
      set_path(all, key, shown(machine, bound));
    }
    auto& configs = machine.seen().configs;
    const auto old = std::ranges::find(configs, std::string("gin"), &LoadedConfig::how);
    if (old != configs.end()) {
      old->value = all;
    } else {
      publish_config(machine, "gin", file_, all);
    }
  }

  std::optional<Value> query(Machine& machine, std::string_view key) {
    for (std::size_t i = bound_.size(); i-- > 0;) {
      const Bound bound = bound_[i];
      const config::GinStatement& at = bound.statement;
      const bool macro = at.kind == config::GinStatement::Kind::macro && at.parameter == key;
      if (macro || at.selector + "." + at.parameter == key) return value_of_bound(machine, bound);
    }
    return std::nullopt;
  }

  /// Calls what `@name` stands for with what was bound to it.
  Value call(Machine& machine, const std::string& scope, const std::string& name,
             Arguments arguments) {
    const auto found = names_.find(name);
    if (found == names_.end() || depth_ > deepest_reference) return unknown(arguments.place);
    const bool outside = !symbol_name(found->second).empty();
    for (const Bound& bound : std::vector(bound_)) {
      const config::GinStatement& at = bound.statement;
      const bool counts = at.scope.empty() ? outside : at.scope == scope;
      if (at.kind == config::GinStatement::Kind::binding && at.selector == name && counts)
        arguments.named.set(at.parameter, value_of_bound(machine, bound));
    }
    return machine.call(Value(found->second), std::move(arguments));
  }

 private:
  struct Bound {
    config::GinStatement statement;
    std::optional<Value> value;  ///< given by the program itself
  };

  void take(Machine& machine, std::vector<config::GinStatement> statements, int depth) {
    for (config::GinStatement& statement : statements) {
      if (statement.kind == config::GinStatement::Kind::include) {
        read_file(machine, statement.value, depth + 1);
        continue;
      }
      std::erase_if(bound_, [&](const Bound& old) {
        return old.statement.scope == statement.scope &&
               old.statement.selector == statement.selector &&
               old.statement.parameter == statement.parameter;
      });
      if (bound_.size() < most_bindings) bound_.push_back({std::move(statement), std::nullopt});
    }
  }

  Value value_of_bound(Machine& machine, const Bound& bound) {
    if (bound.value) return *bound.value;
    ++depth_;
    Value value = read(machine, bound.statement.value, bound.statement.place);
    --depth_;
    return value;
  }

  Value read(Machine& machine, std::string_view text, const PlacePtr& place) {
    text = trim(text);
    if (depth_ > deepest_reference || text.empty() || ++reads_ > most_reads) return unknown(place);
    if (text.front() == '%') return placed(macro(machine, text.substr(1)), place);
    if (text.front() == '@') return reference(machine, text.substr(1), place);
    const bool refers = text.contains('@') || text.contains('%');
    const auto items = refers ? config::gin_items(text) : std::nullopt;
    if (!items) return read_literal(text, place);
    List all;
    for (const auto item : *items) all.push_back(read(machine, item, place));
    return Value::list(std::move(all), place);
  }

  Value macro(Machine& machine, std::string_view name) {
    for (std::size_t i = bound_.size(); i-- > 0;) {
      const Bound bound = bound_[i];
      if (bound.statement.kind == config::GinStatement::Kind::macro &&
          bound.statement.parameter == name)
        return value_of_bound(machine, bound);
    }
    return {};
  }

  /// `@scope/module.name` is the function itself, `@scope/module.name()` what it gives.
  Value reference(Machine& machine, std::string_view text, const PlacePtr& place) {
    const bool calls = text.ends_with("()");
    if (calls) text.remove_suffix(2);
    const auto slash = text.rfind('/');
    const std::string scope(slash == std::string_view::npos ? "" : text.substr(0, slash));
    const std::string name = last_of(text.substr(slash == std::string_view::npos ? 0 : slash + 1));
    if (calls) return placed(call(machine, scope, name, call_with({}, {}, place)), place);
    const auto found = names_.find(name);
    if (found == names_.end()) return unknown(place);
    if (scope.empty() && symbol_name(found->second).empty()) return placed(found->second, place);
    return native_function("gin." + name, [scope, name](Machine& inner, const Arguments& given) {
      return gin_of(inner)->call(inner, scope, name, given);
    });
  }

  /// References and macros as texts, with the name that they end in.
  Value shown(Machine& machine, const Bound& bound) {
    const std::string& text = bound.statement.value;
    const PlacePtr& place = bound.statement.place;
    if (!bound.value && text.starts_with('@') && !text.contains(','))
      return {last_of(text.substr(1, text.find('(') - 1)), place};
    if (!bound.value && text.contains('@')) return unknown(place);
    return value_of_bound(machine, bound);
  }

  std::map<std::string, Value, std::less<>> names_;
  std::vector<Bound> bound_;
  std::vector<std::string> folders_;
  std::string file_;
  int depth_ = 0, reads_ = 0;
};

std::shared_ptr<Gin> gin_of(Machine& machine) {
  auto& held = machine.memory["gin"];
  if (!held) held = std::make_shared<Gin>();
  return std::static_pointer_cast<Gin>(held);
}

/// `@configurable`, `@configurable("name", module=...)`, `configurable(function)`.
Value configurable(Machine& machine, const Arguments& arguments) {
  const Value* first = arguments.find("name_or_fn", 0);
  std::string name = text_or(first != nullptr ? first : arguments.named.find("name"));
  const auto enter = [](Machine& within, const std::string& own, const Value& what) {
    const Value called = within.attribute(what, "__name__");
    const std::string key = own.empty() ? text_or(&called) : last_of(own);
    if (!key.empty()) gin_of(within)->add(within, key, what);
    return what;
  };
  if (first != nullptr && first->object() != nullptr) return enter(machine, "", *first);
  return native_function("gin.configurable", [name, enter](Machine& inner, const Arguments& given) {
    return given.positional.empty() ? Value{} : enter(inner, name, given.positional[0]);
  });
}

Value external_configurable(Machine& machine, const Arguments& arguments) {
  const Value* what = arguments.find("fn_or_cls", 0);
  if (what == nullptr) return {};
  std::string name = text_or(arguments.find("name", 1));
  if (name.empty()) name = symbol_name(*what);
  const Value called = name.empty() ? machine.attribute(*what, "__name__") : Value{};
  if (name.empty()) name = text_or(&called);
  if (!name.empty()) gin_of(machine)->add(machine, last_of(name), *what);
  return *what;
}

void read_files(Machine& machine, const Value* files) {
  if (files == nullptr) return;
  if (const auto path = path_text(*files)) gin_of(machine)->read_file(machine, *path);
  if (files->items() == nullptr) return;
  for (const Value& file : List(*files->items())) read_files(machine, &file);
}

void read_bindings(Machine& machine, const Value* bindings) {
  if (bindings == nullptr) return;
  if (bindings->text() != nullptr) gin_of(machine)->read_text(machine, *bindings);
  if (bindings->items() == nullptr) return;
  for (const Value& each : List(*bindings->items())) read_bindings(machine, &each);
}

Value parsed(Machine& machine, const Value* files, const Value* bindings) {
  read_files(machine, files);
  read_bindings(machine, bindings);
  gin_of(machine)->apply(machine);
  gin_of(machine)->publish(machine);
  gin_of(machine)->publish_fields(machine);
  return Value::none();
}

Value bind_parameter(Machine& machine, const Arguments& arguments) {
  const Value* value = arguments.find("value", 1);
  if (value == nullptr) return {};
  gin_of(machine)->bind(text_or(arguments.find("binding_key", 0)), *value);
  gin_of(machine)->apply(machine);
  gin_of(machine)->publish(machine);
  return Value::none();
}

}  // namespace

void add_gin(NativeTable& table) {
  for (const std::string gin : {"gin.", "gin.config.", "gin.tf.", "gin.torch."}) {
    for (const auto* const name : {"configurable", "register"}) table[gin + name] = configurable;
    table[gin + "external_configurable"] = external_configurable;
    table[gin + "add_config_file_search_path"] = [](Machine& machine, const Arguments& arguments) {
      const Value* folder = arguments.find("location_prefix", 0);
      if (folder != nullptr) {
        if (const auto path = path_text(*folder)) gin_of(machine)->search(*path);
      }
      return Value::none();
    };
    table[gin + "parse_config_files_and_bindings"] = [](Machine& machine, const Arguments& given) {
      return parsed(machine, given.find("config_files", 0), given.find("bindings", 1));
    };
    table[gin + "parse_config_file"] = [](Machine& machine, const Arguments& given) {
      return parsed(machine, given.find("config_file", 0), nullptr);
    };
    table[gin + "parse_config"] = [](Machine& machine, const Arguments& given) {
      return parsed(machine, nullptr, given.find("bindings", 0));
    };
    table[gin + "bind_parameter"] = bind_parameter;
    table[gin + "constant"] = bind_parameter;
    table[gin + "query_parameter"] = [](Machine& machine, const Arguments& given) {
      const auto value = gin_of(machine)->query(machine, text_or(given.find("binding_key", 0)));
      return value ? *value : unknown(given.place);
    };
  }
}

}  // namespace schedmate::python::natives
