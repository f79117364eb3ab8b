// SPDX-License-Identifier: Apache-2.0
/// Names that a module imports and that nothing has used yet. Large projects import hundreds of
/// files of which a job uses a few: a file that only defines things is run when one is asked for.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

bool starts_with_any(std::string_view text, std::span<const std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view each) { return text.starts_with(each); });
}

/// What may stand at the start of a line of a file that changes nothing outside itself.
constexpr std::array<std::string_view, 17> harmless{
    "#",    "import ", "from ",   "def ",   "async def ", "class ",  "if ", "try:",   "else:",
    "elif", "except",  "finally", "\"\"\"", "'''",        "r\"\"\"", "__",  "assert "};

/// Decorators that keep no register of what they are put on.
constexpr std::array<std::string_view, 20> quiet_decorators{
    "@dataclass", "@dataclasses", "@functools",      "@lru_cache",  "@cache",
    "@torch",     "@jit",         "@contextmanager", "@contextlib", "@njit",
    "@numba",     "@overload",    "@typing",         "@deprecated", "@no_grad",
    "@wraps",     "@attr",        "@final",          "@unique",     "@total_ordering"};

/// `name = ...`, also with an annotation; not `a.b = ...` nor `a[b] = ...`.
bool assigns_name(std::string_view line) {
  const auto end = std::ranges::find_if_not(
      line, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const auto rest = trim(std::string_view(end, line.end()));
  return end != line.begin() && (rest.starts_with(':') || rest.starts_with('=')) &&
         !rest.starts_with("==");
}

/// Whether running the file only defines names: no calls, loops or decorators at its top level that
/// may enter something into a register. Errs on the side of no.
bool only_defines(std::string_view text) {
  bool quoted = false;
  for (const auto line : split(text, '\n')) {
    const auto marks = [&](std::string_view mark) {
      int count = 0;
      for (auto at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 3))
        ++count;
      return count;
    };
    const bool odd = (marks("\"\"\"") + marks("'''")) % 2 != 0;
    const bool inside = quoted;
    quoted = quoted != odd;
    if (inside || line.empty() || line.front() == ' ' || line.front() == '\t' ||
        line.front() == '\r')
      continue;
    if (line.contains("metaclass=")) return false;
    if (std::string_view(")]}").contains(line.front())) continue;
    if (line.front() == '@' && !starts_with_any(line, quiet_decorators)) return false;
    if (line.front() != '@' && !starts_with_any(line, harmless) && !assigns_name(line))
      return false;
  }
  return true;
}

}  // namespace

/// The file of a module that was not run yet and may wait, or nothing.
bool Interpreter::may_wait(const std::string& dotted) {
  const bool of_module = frames.size() > 1 && frame().function == nullptr &&
                         frame().building == nullptr && frame().scope != entry_->scope;
  const bool tried = guards.size() > frame().guarded;
  if (!of_module || !certain() || tried || modules_.contains(dotted)) return false;
  const auto top = modules_.find(dotted.substr(0, dotted.find('.')));
  if (top == modules_.end() || top->second->folder.empty()) return false;
  std::string path = top->second->folder;
  std::string name = top->first;
  const auto parts = split(dotted, '.');
  for (std::size_t i = 1; i < parts.size(); ++i) {
    path += "/" + std::string(parts[i]);
    name += "." + std::string(parts[i]);
    if (modules_.contains(name)) continue;
    const bool package = tree_.is_file(path + "/__init__.py");
    const std::string file = path + (package ? "/__init__.py" : ".py");
    if (!package && i + 1 < parts.size()) return false;
    if (!tree_.is_file(file)) return false;
    const auto text = tree_.read(file);
    if (!text || !only_defines((*text)->text)) return false;
  }
  return parts.size() > 1;
}

/// The value behind a name that was imported, for which its module is run now if need be: as if it
/// had been where it was written, outside of all branches and loops.
Value Interpreter::used(const Value& value) {
  auto* waiting = as<Deferred>(value);
  if (waiting == nullptr) return value;
  if (waiting->busy || flow != Flow::next) return {};
  const auto kept = owner_of(value);
  waiting->busy = true;
  Journal around = std::exchange(journal, Journal{});
  const auto branches = std::exchange(uncertain, 0);
  const auto rounds = std::exchange(loops, 0);
  const auto handlers = std::exchange(guards, {});
  const Value module = import_dotted(waiting->module, value.place);
  Value found = attribute(module, waiting->name);
  journal = std::move(around);
  uncertain = branches;
  loops = rounds;
  guards = handlers;
  waiting->busy = false;
  if (!found.place) found.place = value.place;
  return found;
}

const Value* Interpreter::found_in(Dict& names, std::string_view name) {
  const Value* found = names.find(name);
  if (found == nullptr || as<Deferred>(*found) == nullptr) return found;
  const Value waiting = *found;
  Value value = used(waiting);
  // A circle of imports: known once the module is done.
  if (!value.is_unknown()) names.set(name, std::move(value));
  return names.find(name);
}

}  // namespace schedmate::python
