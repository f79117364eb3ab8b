// SPDX-License-Identifier: Apache-2.0
#include "python/interpreter/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "python/interpreter/observe.hpp"
#include "python/natives/support.hpp"
#include "python/natives/table.hpp"
#include "python/objects/release.hpp"

namespace schedmate::python {
namespace {

std::string with_slashes(std::string_view dotted) {
  std::string path(dotted);
  std::ranges::replace(path, '.', '/');
  return path;
}

/// The folder that imports are looked up in first: the script's own or, of a program that is run by
/// its dotted name, the one which that name counts from.
std::string import_folder(const PythonRun& run) {
  if (run.script.empty()) return run.cwd;
  const std::string path = with_slashes(run.module);
  for (const std::string_view end : {".py", "/__main__.py"}) {
    std::string_view folder = run.script;
    if (run.module.empty() || !folder.ends_with(path + std::string(end))) continue;
    folder.remove_suffix(path.size() + end.size());
    if (folder.empty()) return {};
    if (folder.ends_with('/')) return std::string(folder.substr(0, folder.size() - 1));
  }
  return tree::folder_of(run.script);
}

/// What the wrapper does that an installer makes of `name = package.module:function`.
void call_console_script(Interpreter& interpreter, const ModulePtr& entry,
                         std::string_view function) {
  Frame body;
  body.scope = entry->scope;
  interpreter.frames.push_back(std::move(body));
  Value target = wrap(entry);
  for (const auto part : split(function, '.')) target = interpreter.attribute(target, part);
  (void)interpreter.call(target, {});
  interpreter.frames.pop_back();
}

}  // namespace

Interpreter::Interpreter(tree::Tree& tree, const PythonRun& run)
    : tree_(tree), run_(run), limit_(run.steps) {
  List path;
  script_folder_ = import_folder(run);
  if (script_folder_ == ".") script_folder_.clear();
  path.emplace_back(from_working_folder(script_folder_));
  if (const auto given = run.env.find("PYTHONPATH"); given != run.env.end()) {
    for (const auto part : split(given->second.text, ':')) {
      if (!part.empty() && part.front() != '$') path.emplace_back(std::string(part));
    }
  }
  search_path = Value::list(std::move(path));
}

Interpreter::~Interpreter() {
  // Functions hold their scope and the scope holds them: cut the circles.
  frames.clear();
  for (const auto& each : scopes_) {
    const auto scope = each.lock();
    if (!scope) continue;
    scope->names = {};
    scope->outer.reset();
    scope->globals.reset();
  }
  memory.clear();
  for (const auto& type : classes_) {
    type->bases.clear();
    type->fields.clear();
  }
}

/// A path of the tree as the running program would write it: from its working folder.
std::string Interpreter::from_working_folder(std::string_view path) const {
  std::vector<std::string_view> here;
  if (run_.cwd != "." && !run_.cwd.empty()) here = split(run_.cwd, '/');
  auto there = split(path, '/');
  if (path.empty()) there.clear();
  std::size_t common = 0;
  while (common < here.size() && common < there.size() && here[common] == there[common]) ++common;
  std::string out;
  for (std::size_t i = common; i < here.size(); ++i) out += out.empty() ? ".." : "/..";
  for (std::size_t i = common; i < there.size(); ++i)
    out += (out.empty() ? "" : "/") + std::string(there[i]);
  return out.empty() ? "." : out;
}

Result<void> Interpreter::run_entry() {
  auto main = std::make_shared<Module>();
  main->name = "__main__";
  std::string file = run_.script;
  if (file.empty()) {
    const auto found = find_entry_module();
    if (!found) return tl::unexpected(found.error());
    file = *found;
  }
  const auto text = tree_.read(file);
  if (!text) return tl::unexpected(text.error());
  if (source_of(file) == nullptr)
    return fail(ErrorCode::invalid, fmt::format("{} cannot be parsed as Python", file));
  entry_ = main;
  // Relative imports count from the module's own name, and its package is run before it.
  if (!run_.module.empty())
    main->name = run_.module + (file.ends_with("/__main__.py") ? ".__main__" : "");
  if (const auto dot = main->name.rfind('.'); dot != std::string::npos)
    (void)find_module(main->name.substr(0, dot));
  flow = Flow::next;
  main->file = file;  // its classes are found by it, without running it again
  modules_["__main__"] = main;
  execute_file(*main, file);
  const auto own = std::ranges::find(seen_.files, file);
  std::rotate(seen_.files.begin(), own, own == seen_.files.end() ? own : own + 1);
  if (flow == Flow::next && !run_.function.empty()) call_console_script(*this, main, run_.function);
  if (flow == Flow::raise && !seen_.stops.empty()) flow = Flow::exit;
  for (const auto& [name, value] : main->scope->names.all()) {
    const bool plain = value.object() == nullptr && !name.starts_with("__");
    if (plain) seen_.globals.set(name, value);
  }
  return {};
}

/// The file that -m runs.
Result<std::string> Interpreter::find_entry_module() {
  const std::string path = with_slashes(run_.module);
  for (const auto& folder : folders_to_search()) {
    const std::string base = folder.empty() ? path : fmt::format("{}/{}", folder, path);
    for (const std::string_view end : {".py", "/__main__.py"}) {
      std::string file = base;
      file += end;
      if (tree_.is_file(file)) return file;
    }
  }
  return fail(ErrorCode::not_found,
              fmt::format("no module {} in the tree: it may be an installed package", run_.module));
}

Value Interpreter::resolve(std::string_view dotted) {
  // A path of the tree written with points: the module that was made of that file.
  const auto dot = dotted.rfind('.');
  if (dot != std::string_view::npos) {
    const std::string file = with_slashes(dotted.substr(0, dot)) + ".py";
    for (const auto& [name, module] : modules_) {
      if (module->file == file) return member_of_module(wrap(module), dotted.substr(dot + 1));
    }
  }
  const auto parts = split(dotted, '.');
  for (std::size_t used = parts.size(); used > 0; --used) {
    const auto end =
        static_cast<std::size_t>(parts[used - 1].data() + parts[used - 1].size() - dotted.data());
    const auto module = find_module(std::string(dotted.substr(0, end)));
    if (!module) continue;
    Value value = wrap(module);
    for (std::size_t i = used; i < parts.size(); ++i) value = attribute(value, parts[i]);
    return value;
  }
  std::string name = canonical(std::string(dotted));
  if (name == "sys.path") return search_path;
  if (auto constant = natives::native_constant(*this, name)) return *constant;
  return symbol(std::move(name));
}

Value Interpreter::run_text(const std::string& text, PlacePtr at) {
  if (text.size() > 200'000) return {};
  // A file that the program reads and runs keeps its own lines.
  auto parsed = Source::parse_text(text, std::move(at));
  if (!parsed) return {};
  texts_.push_back(std::move(*parsed));
  const Code& root = texts_.back()->root();
  Value last;
  for (const Code& statement : root.children) {
    if (flow != Flow::next) break;
    const bool expression = statement.kind == Kind::expression_statement &&
                            statement.children.size() == 1 &&
                            statement.first()->kind != Kind::assignment &&
                            statement.first()->kind != Kind::augmented_assignment;
    if (expression) {
      last = eval(*statement.first());
    } else {
      execute(statement);
    }
  }
  return last;
}

void Interpreter::run_file(const std::string& file, const DictPtr& names) {
  const Source* source = source_of(file);
  if (source == nullptr) return;
  if (!names) {
    if (std::ranges::find(seen_.files, file) == seen_.files.end()) seen_.files.push_back(file);
    return execute_block(&source->root());
  }
  // Relative imports in it count from its place in the tree.
  auto module = std::make_shared<Module>();
  module->file = file;
  module->name = file.substr(0, file.rfind('.'));
  std::ranges::replace(module->name, '/', '.');
  module->scope->names = *names;
  modules_[fmt::format("{}#{}", file, modules_.size())] = module;
  const bool outermost = memory.try_emplace("exec", module).second;
  execute_file(*module, file);
  if (outermost) memory.erase("exec");
  Dict settings;
  for (const auto& [name, value] : module->scope->names.all()) {
    journal.set(names, name, value);
    const Value plain = as_plain(value);
    if (plain.object() == nullptr && !name.starts_with("_")) settings.set(name, plain);
  }
  // Those that it runs in turn are its bases: changed by it since.
  if (outermost) natives::publish_config(*this, "exec", file, Value::dict(std::move(settings)));
}

void Interpreter::set_entry(const DictPtr& dict, std::string_view key, Value value) {
  journal.set(dict, key, std::move(value));
}

Observation Interpreter::take() {
  cut_circles(seen_);
  return std::move(seen_);
}

bool Interpreter::sort(List& list, const Value* key, bool reverse) {
  std::vector<std::pair<Value, Value>> keyed;
  // A copy: the key function may change the list.
  const List items = list;
  for (const Value& item : items) {
    Arguments arguments;
    arguments.positional.push_back(item);
    const bool by_key = key != nullptr && !key->is_none();
    keyed.emplace_back(by_key ? call(*key, std::move(arguments)) : item, item);
  }
  // Only where all keys compare: an order by halves would be a guess.
  for (std::size_t i = 1; i < keyed.size(); ++i) {
    const auto index = keyed[i].first.data.index();
    const bool number = keyed[i].first.number() && keyed[0].first.number();
    const bool text = keyed[i].first.text() != nullptr && index == keyed[0].first.data.index();
    if (!number && !text) return false;
  }
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
    const Value& left = reverse ? b.first : a.first;
    const Value& right = reverse ? a.first : b.first;
    if (left.text() != nullptr && right.text() != nullptr) return *left.text() < *right.text();
    return left.number().value_or(0) < right.number().value_or(0);
  });
  list.clear();
  for (auto& each : keyed) list.push_back(std::move(each.second));
  return true;
}

Result<Observation> observe(tree::Tree& tree, const PythonRun& run) {
  Interpreter interpreter(tree, run);
  const auto done = interpreter.run_entry();
  if (!done) return tl::unexpected(done.error());
  return interpreter.take();
}

}  // namespace schedmate::python
