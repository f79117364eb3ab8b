// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "python/interpreter/builtins.hpp"
#include "python/natives/support.hpp"

namespace schedmate::python {
namespace {

Value super(Interpreter& in, const Arguments& arguments) {
  const Frame& here = in.frame();
  const Class* after = here.function == nullptr ? nullptr : here.function->owner;
  Value self = here.self;
  if (arguments.positional.size() == 2) {
    after = as<Class>(arguments.positional[0]);
    self = arguments.positional[1];
  }
  const auto* thing = as<Thing>(self);
  const auto* native = as<NativeObject>(self);
  const Class* type =
      thing != nullptr ? thing->type_of : as<Class>(native != nullptr ? native->extension : self);
  if (type == nullptr || after == nullptr) return {};
  auto made = std::make_shared<Super>();
  made->self = self;
  made->of = type;
  while (made->from < type->order.size() && type->order[made->from] != after) ++made->from;
  ++made->from;
  return wrap(std::move(made), arguments.place);
}

Value globals(Interpreter& in, const Arguments& arguments) {
  const ScopePtr& scope = in.frame().scope;
  return {names_of(scope->globals ? scope->globals : scope), arguments.place};
}

Value locals(Interpreter& in, const Arguments& arguments) {
  return {names_of(in.frame().scope), arguments.place};
}

/// `open(path).read()` as text to run: the file itself, so that its lines stay its own.
std::optional<std::string> file_read(Interpreter& in, const Value& text) {
  const auto* file = text.place == nullptr ? nullptr : text.place.get();
  if (text.text() == nullptr || file == nullptr || file->line > 1) return std::nullopt;
  const auto read = in.tree().is_file(file->file) ? in.tree().read(file->file)
                                                  : Result<const tree::TextFile*>(nullptr);
  if (!read || *read == nullptr || (*read)->text != *text.text()) return std::nullopt;
  return file->file;
}

Value execute_text(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr || given->text() == nullptr) return Value::none();
  const Value* names = argument_at(arguments, 1);
  const auto* own = names == nullptr ? nullptr : std::get_if<DictPtr>(&names->data);
  const ScopePtr& here = in.frame().scope;
  const bool apart = own != nullptr && own->get() != &here->names &&
                     (!here->globals || own->get() != &here->globals->names);
  if (const auto file = file_read(in, *given)) {
    in.run_file(*file, apart ? *own : nullptr);
  } else {
    in.run_text(*given->text(), given->place);
  }
  return Value::none();
}

/// runpy.run_path(file): the names that the file leaves behind.
Value run_path(Interpreter& in, const Arguments& arguments) {
  const Value* given = arguments.find("path_name", 0);
  const auto text = given == nullptr ? std::nullopt : natives::path_text(*given);
  const auto file = text ? natives::tree_path(in, *text) : std::nullopt;
  if (!file || !in.tree().is_file(*file)) return {Unknown{}, arguments.place};
  const Value* before = arguments.find("init_globals", 1);
  const Dict* names = before == nullptr ? nullptr : before->entries();
  Value all = Value::dict(names == nullptr ? Dict{} : *names, arguments.place);
  in.run_file(*file, std::get<DictPtr>(all.data));
  return all;
}

Value evaluate_text(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr || given->text() == nullptr) return {};
  return in.run_text(*given->text(), given->place);
}

/// Literals only; what is none fails with an error that programs use to keep the text.
Value evaluate_literal(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr || given->text() == nullptr) return {};
  const auto text = trim(*given->text());
  constexpr std::string_view starts = "0123456789-+.'\"[({";
  const bool word = text == "True" || text == "False" || text == "None";
  if (text.empty() || (!word && starts.find(text.front()) == std::string_view::npos)) {
    in.throw_error("ValueError");
    return {Unknown{}, given->place};
  }
  return in.run_text(std::string(text), given->place);
}

Value compiled(Interpreter&, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  return given == nullptr ? Value{} : *given;
}

/// A package whose modules are laid beside it by a module finder or by its installation: the only
/// file of the tree with that name.
ModulePtr only_file_named(Interpreter& in, const std::string& dotted) {
  const auto dot = dotted.rfind('.');
  const auto package = in.find_module(dotted.substr(0, dot));
  if (!package || package->folder.empty()) return nullptr;
  const std::string file = "/" + dotted.substr(dot + 1) + ".py";
  std::string only;
  for (const tree::TreeEntry& entry : in.tree().walk("")) {
    if (entry.is_folder || !entry.path.ends_with(file)) continue;
    if (!only.empty()) return nullptr;
    only = entry.path;
  }
  if (only.empty()) return nullptr;
  in.tree().degrade(
      fmt::format("the module {} is not where its name says; {} is used", dotted, only));
  only.resize(only.size() - std::string_view(".py").size());
  std::ranges::replace(only, '/', '.');
  return in.find_module(only);
}

Value import_module(Interpreter& in, const Arguments& arguments) {
  const Value* given = arguments.find("name", 0);
  if (given == nullptr || given->text() == nullptr) return {};
  std::string name = *given->text();
  if (name.starts_with('.')) {
    const Value* package = arguments.find("package", 1);
    if (package == nullptr || package->text() == nullptr) return {};
    name = *package->text() + name;
  }
  Value module = in.import_dotted(name, given->place);
  // Programs find "package.module.Class" by trying ever shorter names.
  const bool missing = as<Module>(module) == nullptr && name.contains('.') &&
                       in.find_module(name.substr(0, name.find('.'))) != nullptr;
  if (missing && in.guards.empty()) {
    if (const auto laid_beside = only_file_named(in, name)) return wrap(laid_beside, given->place);
  }
  if (missing) in.throw_error("ModuleNotFoundError");
  return module;
}

Value exit_program(Interpreter& in, const Arguments& arguments) {
  const Value* code = argument_at(arguments, 0);
  std::string reason = "exit";
  if (code != nullptr && code->text() != nullptr) reason += ": " + *code->text();
  if (code != nullptr && code->integer() != nullptr) reason += " " + repr(*code);
  in.stop(std::move(reason), arguments.place);
  return {};
}

}  // namespace

void add_program_builtins(BuiltinTable& table) {
  table["super"] = super;
  table["globals"] = globals;
  table["locals"] = locals;
  table["exec"] = execute_text;
  table["eval"] = evaluate_text;
  table["ast.literal_eval"] = evaluate_literal;
  table["compile"] = compiled;
  table["runpy.run_path"] = run_path;
  table["__import__"] = import_module;
  table["importlib.import_module"] = import_module;
  table["exit"] = exit_program;
  table["quit"] = exit_program;
}

const Native* find_builtin(std::string_view name) {
  static const std::map<std::string, Native, std::less<>> natives = [] {
    BuiltinTable table;
    add_number_builtins(table);
    add_container_builtins(table);
    add_object_builtins(table);
    add_program_builtins(table);
    std::map<std::string, Native, std::less<>> all;
    for (const auto& [key, builtin] : table) {
      all.emplace(key, [builtin](Machine& machine, const Arguments& arguments) {
        return builtin(static_cast<Interpreter&>(machine), arguments);
      });
    }
    return all;
  }();
  const auto found = natives.find(name);
  return found == natives.end() ? nullptr : &found->second;
}

}  // namespace schedmate::python
