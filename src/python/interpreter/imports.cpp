// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

std::string below(std::string_view folder, std::string_view name) {
  if (folder.empty() || folder == ".") return std::string(name);
  return fmt::format("{}/{}", folder, name);
}

/// Packages that are rarely there, so that the handler of their ImportError is what runs.
constexpr std::string_view rarely_installed[] = {
    "torch_xla", "smdistributed", "torch_npu", "habana_frameworks",
    "apex",      "torch_mlu",     "amp_C",     "intel_extension_for_pytorch"};

/// Libraries that are modelled by name, by natives and by the rules: their own source, should it
/// stand in the tree beside the program, shows less than that and is long to follow.
constexpr std::string_view known_by_name[] = {"accelerate",
                                              "diffusers",
                                              "flax",
                                              "jax",
                                              "keras",
                                              "optax",
                                              "pytorch_lightning",
                                              "sentence_transformers",
                                              "tensorflow",
                                              "torch",
                                              "transformers",
                                              "trl"};

bool is_one_of(std::span<const std::string_view> names, std::string_view dotted) {
  return std::ranges::find(names, dotted.substr(0, dotted.find('.'))) != names.end();
}
bool is_rare(std::string_view dotted) { return is_one_of(rarely_installed, dotted); }

void note_import(Observation& seen, const std::string& dotted, const PlacePtr& at) {
  if (seen.imports.find(dotted) == nullptr) seen.imports.set(dotted, Value(dotted, at));
}

/// `from folder import module`: a folder without __init__.py is a package for what it holds.
void find_in_plain_folder(Interpreter& in, const std::string& dotted, const Code& code) {
  if (dotted.empty() || in.find_module(dotted)) return;
  for (const Code& child : code.children) {
    if (child.field != Field::name) continue;
    const Code* name = child.kind == Kind::aliased_import ? child.get(Field::name) : &child;
    if (name != nullptr && in.find_module(dotted + "." + std::string(name->text))) return;
  }
}

}  // namespace

std::vector<std::string> Interpreter::folders_to_search() {
  std::vector<std::string> folders;
  const auto add = [&](const std::string& folder) {
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  };
  // sys.path holds folders as the program sees them, from its working directory.
  if (const List* path = search_path.items()) {
    for (const Value& entry : *path) {
      const Value plain = as_plain(entry);
      if (plain.text() == nullptr) continue;
      if (auto folder = tree_.locate(run_.cwd, *plain.text())) add(*folder);
    }
  }
  // Projects that are installed in place: the script's parents, and src/ folders beside them.
  std::string folder = script_folder_;
  while (true) {
    add(folder);
    add(below(folder, "src"));
    if (folder.empty() || folder == ".") break;
    const auto slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
  }
  for (const std::string_view name : {"python", "lib"}) add(std::string(name));
  return folders;
}

const Source* Interpreter::source_of(const std::string& file) {
  if (const auto found = sources_.find(file); found != sources_.end()) return found->second.get();
  auto& kept = sources_[file];
  const auto text = tree_.read(file);
  if (!text) return nullptr;
  auto parsed = Source::parse(file, (*text)->text);
  if (!parsed) {
    tree_.degrade(fmt::format("{}: {}", file, parsed.error().message));
    return nullptr;
  }
  kept = std::move(*parsed);
  kept->source = literal_source;
  if (kept->broken())
    tree_.degrade(fmt::format("{}: not all of it could be parsed as Python", file));
  return kept.get();
}

/// The file or package that `name` is in `folder`, not yet run.
ModulePtr Interpreter::locate(const std::string& folder, const std::string& name,
                              const std::string& inside) {
  const std::string base = below(folder, name);
  auto module = std::make_shared<Module>();
  if (tree_.is_file(base + "/__init__.py")) {
    module->file = base + "/__init__.py";
    module->folder = base;
    return module;
  }
  if (tree_.is_file(base + ".py")) {
    module->file = base + ".py";
    return module;
  }
  // A folder without __init__.py counts only when it holds what is asked for: data/ is no module.
  const std::string held = below(base, inside);
  const bool holds = !inside.empty() && tree_.is_folder(base) &&
                     (tree_.is_file(held + ".py") || tree_.is_folder(held));
  if (!holds) return nullptr;
  module->folder = base;
  return module;
}

ModulePtr Interpreter::find_module(const std::string& dotted) {
  if (const auto known = modules_.find(dotted); known != modules_.end()) return known->second;
  if (dotted.empty() || dotted.size() > 300 || is_one_of(known_by_name, dotted)) return nullptr;
  const auto parts = split(dotted, '.');
  std::string name;
  ModulePtr parent;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    name += (i > 0 ? "." : "") + std::string(parts[i]);
    ModulePtr here;
    if (const auto known = modules_.find(name); known != modules_.end()) {
      here = known->second;
    } else {
      here = load_module(name, parent, i + 1 < parts.size() ? std::string(parts[i + 1]) : "");
    }
    if (!here) return nullptr;
    parent = std::move(here);
  }
  return parent;
}

/// Loads and runs one module whose parent is there already; remembers what is not there.
ModulePtr Interpreter::load_module(const std::string& dotted, const ModulePtr& parent,
                                   const std::string& inside) {
  const auto dot = dotted.rfind('.');
  const std::string name = dot == std::string::npos ? dotted : dotted.substr(dot + 1);
  ModulePtr module;
  if (parent) {
    if (!parent->folder.empty()) module = locate(parent->folder, name, inside);
    if (!module && !parent->folder.empty() && tree_.is_folder(below(parent->folder, name))) {
      module = std::make_shared<Module>();
      module->folder = below(parent->folder, name);
    }
  } else {
    for (const auto& folder : folders_to_search()) {
      module = locate(folder, name, inside);
      if (module) break;
    }
  }
  // What is not there now may be once sys.path has grown.
  if (!module) return nullptr;
  module->name = dotted;
  modules_[dotted] = module;
  if (!module->file.empty()) execute_file(*module, module->file);
  if (parent) journal.set(names_of(parent->scope), name, wrap(module));
  return module;
}

void Interpreter::execute_file(Module& module, const std::string& file) {
  const Source* source = source_of(file);
  if (source == nullptr) return;
  seen_.files.push_back(file);
  auto& names = module.scope->names;
  const bool entry = &module == entry_.get() && run_.function.empty();
  names.set("__name__", Value(entry ? "__main__" : module.name));
  names.set("__file__", Value(from_working_folder(file)));
  names.set("__doc__", Value(std::string()));
  module_files_[module.scope.get()] = &module;
  execute_module(module, source->root());
}

void Interpreter::execute_module(Module& module, const Code& root) {
  if (frames.size() > 200) return;
  Frame body;
  body.scope = module.scope;
  body.guarded = guards.size();
  scopes_.push_back(module.scope);
  const auto before = limit_;
  const auto guarded = guards;
  if (!frames.empty()) limit_ = std::min(limit_, steps_ + (limit_ - steps_) / 4 * 3);
  frames.push_back(std::move(body));
  execute_block(&root);
  frames.pop_back();
  guards = guarded;
  limit_ = before;
  if (flow == Flow::over_budget && steps_ <= limit_) {
    tree_.degrade(fmt::format("{} takes too many steps: the rest of it was left out", module.file));
    flow = Flow::next;
  }
  if (flow != Flow::raise && flow != Flow::exit && flow != Flow::over_budget) flow = Flow::next;
}

Value Interpreter::import_dotted(const std::string& dotted, const PlacePtr& at) {
  if (const auto module = find_module(dotted)) return wrap(module, at);
  note_import(seen_, dotted, at);
  return symbol(canonical(dotted), at);
}

void Interpreter::execute_import(const Code& code) {
  const PlacePtr at = place(code);
  for (const Code& child : code.children) {
    const bool aliased = child.kind == Kind::aliased_import;
    const Code* name = aliased ? child.get(Field::name) : &child;
    if (name == nullptr) continue;
    const std::string dotted(name->text);
    if (!guards.empty() && is_rare(dotted) && !find_module(dotted)) {
      note_import(seen_, dotted, at);
      raise("ModuleNotFoundError", code);
      return;
    }
    Value value = import_dotted(dotted, at);
    if (flow != Flow::next) return;
    const Code* alias = child.get(Field::alias);
    if (alias != nullptr) {
      set_name(alias->text, std::move(value));
      continue;
    }
    const std::string top = dotted.substr(0, dotted.find('.'));
    const bool of_tree = as<Module>(value) != nullptr;
    const auto whole = of_tree ? find_module(top) : nullptr;
    set_name(top, of_tree && whole ? wrap(whole, at) : symbol(canonical(top), at));
  }
}

/// "..models.build" as a dotted name, seen from the running module.
std::string Interpreter::absolute_name(const Code& relative) {
  const ScopePtr& scope = frame().scope;
  const Scope* globals = scope->globals ? scope->globals.get() : scope.get();
  const auto found = module_files_.find(globals);
  std::size_t dots = 0;
  while (dots < relative.text.size() && relative.text[dots] == '.') ++dots;
  std::string rest(relative.text.substr(dots));
  if (found == module_files_.end()) return rest;
  const Module& module = *found->second;
  std::string package = module.name;
  for (std::size_t level = module.folder.empty() ? 0 : 1; level < dots; ++level) {
    const auto dot = package.rfind('.');
    package = dot == std::string::npos ? "" : package.substr(0, dot);
  }
  if (package.empty()) return rest;
  return rest.empty() ? package : package + "." + rest;
}

void Interpreter::execute_import_from(const Code& code) {
  const Code* from = code.get(Field::module_name);
  if (from == nullptr) return;
  const PlacePtr at = place(code);
  const std::string dotted =
      from->kind == Kind::relative_import ? absolute_name(*from) : std::string(from->text);
  if (!guards.empty() && is_rare(dotted) && !find_module(dotted)) {
    note_import(seen_, dotted, at);
    raise("ModuleNotFoundError", code);
    return;
  }
  const bool all = std::ranges::any_of(
      code.children, [](const Code& child) { return child.kind == Kind::wildcard_import; });
  const bool waits = !all && may_wait(dotted);
  if (!waits) find_in_plain_folder(*this, dotted, code);
  const Value module = waits ? Value{} : import_dotted(dotted, at);
  if (flow != Flow::next) return;
  for (const Code& child : code.children) {
    if (child.kind == Kind::wildcard_import) import_all(module);
    if (child.field != Field::name) continue;
    const Code* name = child.kind == Kind::aliased_import ? child.get(Field::name) : &child;
    const Code* alias = child.get(Field::alias);
    if (name == nullptr) continue;
    if (waits) {
      auto later = std::make_shared<Deferred>();
      later->module = dotted;
      later->name = name->text;
      set_name(alias == nullptr ? name->text : alias->text, wrap(std::move(later), at));
      continue;
    }
    Value value = attribute(module, name->text);
    if (as<Module>(module) == nullptr)
      note_import(seen_, dotted + "." + std::string(name->text), at);
    if (!value.place) value.place = at;
    set_name(alias == nullptr ? name->text : alias->text, std::move(value));
  }
}

void Interpreter::import_all(const Value& from) {
  auto* module = as<Module>(from);
  if (module == nullptr) {
    const auto* outside = as<Symbol>(from);
    const auto& scope = frame().scope;
    if (outside != nullptr)
      (scope->globals ? scope->globals : scope)->outside_stars.push_back(outside->name);
    return;
  }
  const Value* all = module->scope->names.find("__all__");
  if (all != nullptr && all->items() != nullptr) {
    const List names = *all->items();
    for (const Value& name : names) {
      if (name.text() != nullptr) set_name(*name.text(), member_of_module(from, *name.text()));
    }
    return;
  }
  const Dict names = module->scope->names;
  for (const auto& [name, value] : names.all()) {
    if (!name.starts_with("_")) set_name(name, value);
  }
  auto& stars = frame().scope->outside_stars;
  stars.insert(stars.end(), module->scope->outside_stars.begin(),
               module->scope->outside_stars.end());
}

Value Interpreter::member_of_module(const Value& of, std::string_view name) {
  auto& module = *as<Module>(of);
  if (const Value* found = found_in(module.scope->names, name)) return *found;
  if (name == "__dict__") return {names_of(module.scope), of.place};
  if (!module.folder.empty() && !name.starts_with("__")) {
    if (const auto inner = find_module(module.name + "." + std::string(name))) return wrap(inner);
  }
  if (!module.scope->outside_stars.empty())
    return symbol(canonical(module.scope->outside_stars.back() + "." + std::string(name)));
  if (const Value* getter = module.scope->names.find("__getattr__")) {
    Arguments arguments;
    arguments.positional.emplace_back(std::string(name));
    return call(Value(*getter), std::move(arguments));
  }
  return {};
}

}  // namespace schedmate::python
