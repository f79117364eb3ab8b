// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::natives {
namespace {

/// typer.Option(0.1, "--lr") and typer.Argument(...): a default with names.
struct TyperDefault : python::NativeObject {
  std::optional<code::Value> fallback;
  std::vector<std::string> names;
  bool by_place = false;
  std::string type_name() const override { return "typer.models.OptionInfo"; }
  std::optional<code::Value> attribute(python::Machine&, std::string_view name) override {
    return name == "default" ? fallback : std::nullopt;
  }
};

code::Value make_default(const python::Arguments& arguments, bool by_place) {
  auto made = std::make_shared<TyperDefault>();
  made->by_place = by_place;
  const code::Value* fallback = arguments.find("default", 0);
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
code::Value run_typer(python::Machine& machine, const code::Value& target,
                      const std::vector<command::Word>& words) {
  const auto view = machine.function(target);
  if (!view) return {};
  TypedFlags flags({.booleans = TypedStyle::Booleans::pair,
                    .only_dashes = true,
                    .required_by_place = true,
                    .words_as_lists = false});
  for (python::Parameter parameter : view->parameters) {
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
class TyperApp : public python::NativeObject, public std::enable_shared_from_this<TyperApp> {
 public:
  std::string type_name() const override { return "typer.Typer"; }

  std::optional<code::Value> attribute(python::Machine&, std::string_view name) override {
    const auto self = shared_from_this();
    if (name == "command") {
      return python::native_function(
          "typer.command", [self](python::Machine&, const python::Arguments& arguments) {
            const std::string given = text_or(arguments.find("name", 0));
            return python::native_function(
                "decorator",
                [self, given](python::Machine& machine, const python::Arguments& decorated) {
                  if (decorated.positional.empty()) return code::Value{};
                  const auto view = machine.function(decorated.positional[0]);
                  std::string key = given.empty() && view ? view->name : given;
                  std::ranges::replace(key, '_', '-');
                  self->commands_.emplace_back(std::move(key), decorated.positional[0]);
                  return decorated.positional[0];
                });
          });
    }
    if (name == "callback") {
      return python::native_function(
          "typer.callback", [self](python::Machine&, const python::Arguments&) {
            self->has_callback_ = true;
            return python::native_function("decorator", returns_first_argument);
          });
    }
    if (name == "add_typer") {
      return python::native_function(
          "add_typer", [self](python::Machine&, const python::Arguments& arguments) {
            const code::Value* app = arguments.find("typer_instance", 0);
            if (app != nullptr)
              self->commands_.emplace_back(text_or(arguments.named.find("name")), *app);
            return code::Value::none(arguments.place);
          });
    }
    if (name == "__call__") {
      return python::native_function("typer.Typer",
                                     [self](python::Machine& machine, const python::Arguments&) {
                                       return self->run(machine, program_words(machine));
                                     });
    }
    return std::nullopt;
  }

  code::Value run(python::Machine& machine, std::vector<command::Word> words) {
    if (commands_.size() == 1 && !has_callback_) return start(machine, commands_[0].second, words);
    const auto chosen = std::ranges::find_if(
        words, [](const command::Word& word) { return !word.text.starts_with('-'); });
    if (chosen == words.end()) return {};
    const auto found =
        std::ranges::find(commands_, chosen->text, &std::pair<std::string, code::Value>::first);
    if (found == commands_.end()) {
      if (chosen->known)
        machine.refuse(fmt::format("there is no command '{}'", chosen->text), chosen->place);
      return {};
    }
    return start(machine, found->second, {chosen + 1, words.end()});
  }

 private:
  static code::Value start(python::Machine& machine, const code::Value& target,
                           const std::vector<command::Word>& words) {
    if (auto* app = object_as<TyperApp>(target)) return app->run(machine, words);
    return run_typer(machine, target, words);
  }
  std::vector<std::pair<std::string, code::Value>> commands_;
  bool has_callback_ = false;
};

}  // namespace

void add_typer(NativeTable& table) {
  table["typer.Typer"] = [](python::Machine&, const python::Arguments& arguments) {
    return value_of(std::make_shared<TyperApp>(), arguments.place);
  };
  table["typer.Option"] = [](python::Machine&, const python::Arguments& arguments) {
    return make_default(arguments, false);
  };
  table["typer.Argument"] = [](python::Machine&, const python::Arguments& arguments) {
    return make_default(arguments, true);
  };
  table["typer.run"] = [](python::Machine& machine, const python::Arguments& arguments) {
    if (arguments.positional.empty()) return code::Value{};
    return run_typer(machine, arguments.positional[0], program_words(machine));
  };
}

}  // namespace schedmate::natives

void schedmate::natives::add_flag_libraries(NativeTable& table) {
  natives::add_absl(table);
  natives::add_mlxu(table);
  natives::add_click(table);
  natives::add_tyro(table);
  natives::add_typed(table);
  natives::add_typer(table);
  natives::add_lightning_cli(table);
}
