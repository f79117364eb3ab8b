// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {
namespace {

/// typer.Option(0.1, "--lr") and typer.Argument(...): a default with names.
struct TyperDefault : NativeObject {
  std::optional<Value> fallback;
  std::vector<std::string> names;
  bool by_place = false;
  std::string type_name() const override { return "typer.models.OptionInfo"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    return name == "default" ? fallback : std::nullopt;
  }
};

Value make_default(const Arguments& arguments, bool by_place) {
  auto made = std::make_shared<TyperDefault>();
  made->by_place = by_place;
  const Value* fallback = arguments.find("default", 0);
  // `...` says that there is none.
  const bool required =
      fallback == nullptr || fallback->is_unknown() || symbol_name(*fallback) == "Ellipsis";
  if (!required) made->fallback = *fallback;
  for (std::size_t i = 1; i < arguments.positional.size(); ++i) {
    const std::string name = text_or(&arguments.positional[i]);
    if (name.starts_with('-')) made->names.push_back(name.substr(0, name.find('/')));
  }
  return value_of(made, arguments.place);
}

/// Runs a function as typer would, with its parameters as arguments and options.
Value run_typer(Machine& machine, const Value& target, const std::vector<command::Word>& words) {
  const auto view = machine.function(target);
  if (!view) return {};
  TypedFlags flags({.booleans = TypedStyle::Booleans::pair,
                    .only_dashes = true,
                    .required_by_place = true,
                    .words_as_lists = false});
  for (Parameter parameter : view->parameters) {
    const auto* given = parameter.fallback ? object_as<TyperDefault>(*parameter.fallback) : nullptr;
    if (given != nullptr) parameter.fallback = given->fallback;
    flags.add_parameter(parameter, "", "");
    if (given == nullptr) continue;
    FlagSpec& spec = flags.last().spec;
    if (!given->names.empty()) spec.names = given->names;
    if (spec.names.empty() && !given->by_place) {
      std::string dashed = "--" + parameter.name;
      std::ranges::replace(dashed, '_', '-');
      spec.names = {dashed};
      spec.required = true;
    }
    if (given->by_place) {
      spec.names.clear();
      spec.least = given->fallback ? 0 : 1;
    }
  }
  const TypedValues values = flags.parse(machine, words);
  flags.show(machine, values);
  return machine.call(target, call_with({}, flags.fields(machine, values), view->place));
}

/// typer.Typer(): commands by name; a single one needs no name.
class TyperApp : public NativeObject, public std::enable_shared_from_this<TyperApp> {
 public:
  std::string type_name() const override { return "typer.Typer"; }

  std::optional<Value> attribute(Machine&, std::string_view name) override {
    const auto self = shared_from_this();
    if (name == "command") {
      return native_function("typer.command", [self](Machine&, const Arguments& arguments) {
        const std::string given = text_or(arguments.find("name", 0));
        return native_function(
            "decorator", [self, given](Machine& machine, const Arguments& decorated) {
              if (decorated.positional.empty()) return Value{};
              const auto view = machine.function(decorated.positional[0]);
              std::string key = given.empty() && view ? view->name : given;
              std::ranges::replace(key, '_', '-');
              self->commands_.emplace_back(std::move(key), decorated.positional[0]);
              return decorated.positional[0];
            });
      });
    }
    if (name == "callback") {
      return native_function("typer.callback", [self](Machine&, const Arguments&) {
        self->has_callback_ = true;
        return native_function("decorator", returns_first_argument);
      });
    }
    if (name == "add_typer") {
      return native_function("add_typer", [self](Machine&, const Arguments& arguments) {
        const Value* app = arguments.find("typer_instance", 0);
        if (app != nullptr)
          self->commands_.emplace_back(text_or(arguments.named.find("name")), *app);
        return Value::none(arguments.place);
      });
    }
    if (name == "__call__") {
      return native_function("typer.Typer", [self](Machine& machine, const Arguments&) {
        return self->run(machine, program_words(machine));
      });
    }
    return std::nullopt;
  }

  Value run(Machine& machine, std::vector<command::Word> words) {
    if (commands_.size() == 1 && !has_callback_) return start(machine, commands_[0].second, words);
    const auto chosen = std::ranges::find_if(
        words, [](const command::Word& word) { return !word.text.starts_with('-'); });
    if (chosen == words.end()) return {};
    const auto found =
        std::ranges::find(commands_, chosen->text, &std::pair<std::string, Value>::first);
    if (found == commands_.end()) {
      if (chosen->known)
        machine.refuse(fmt::format("there is no command '{}'", chosen->text), chosen->place);
      return {};
    }
    return start(machine, found->second, {chosen + 1, words.end()});
  }

 private:
  static Value start(Machine& machine, const Value& target,
                     const std::vector<command::Word>& words) {
    if (auto* app = object_as<TyperApp>(target)) return app->run(machine, words);
    return run_typer(machine, target, words);
  }
  std::vector<std::pair<std::string, Value>> commands_;
  bool has_callback_ = false;
};

}  // namespace

void add_typer(NativeTable& table) {
  table["typer.Typer"] = [](Machine&, const Arguments& arguments) {
    return value_of(std::make_shared<TyperApp>(), arguments.place);
  };
  table["typer.Option"] = [](Machine&, const Arguments& arguments) {
    return make_default(arguments, false);
  };
  table["typer.Argument"] = [](Machine&, const Arguments& arguments) {
    return make_default(arguments, true);
  };
  table["typer.run"] = [](Machine& machine, const Arguments& arguments) {
    if (arguments.positional.empty()) return Value{};
    return run_typer(machine, arguments.positional[0], program_words(machine));
  };
}

}  // namespace schedmate::python::natives

void schedmate::python::natives::add_flag_libraries(NativeTable& table) {
  natives::add_absl(table);
  natives::add_mlxu(table);
  natives::add_click(table);
  natives::add_tyro(table);
  natives::add_typed(table);
  natives::add_typer(table);
  natives::add_lightning_cli(table);
}
