// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "command/launch_parts.hpp"
#include "command/paths.hpp"

namespace schedmate::command {
namespace {

constexpr std::size_t longest_name = 100;  ///< of a command

bool is_dotted(std::string_view text) {
  if (text.empty()) return false;
  const auto parts = split(text, '.');
  return std::ranges::all_of(parts, [](std::string_view part) { return is_name(part); });
}

/// "name = package.module:function" with or without quotes around either side.
std::optional<EntryPoint> entry_in(std::string_view line, std::string_view name) {
  const auto strip = [](std::string_view text) {
    text = trim(text);
    while (!text.empty() && std::string_view("'\"[]{},() ").contains(text.front()))
      text.remove_prefix(1);
    while (!text.empty() && std::string_view("'\"[]{},() ").contains(text.back()))
      text.remove_suffix(1);
    return text;
  };
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const bool starts = at == 0 || std::string_view("'\" \t[,").contains(line[at - 1]) ||
                        line.substr(0, at).ends_with("scripts.");
    auto rest = line.substr(at + name.size());
    if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
    rest = trim(rest);
    if (!starts || !rest.starts_with('=')) continue;
    rest = rest.substr(1);
    rest = strip(rest.substr(0, rest.find_first_of(",;#")));
    const auto colon = rest.find(':');
    if (colon == std::string_view::npos) continue;
    const auto module = trim(rest.substr(0, colon));
    const auto function = trim(rest.substr(colon + 1));
    if (is_dotted(module) && is_dotted(function))
      return EntryPoint{std::string(module), std::string(function)};
  }
  return std::nullopt;
}

std::string file_of(tree::Tree& tree, const std::string& base) {
  if (tree.is_file(base + ".py")) return base + ".py";
  if (tree.is_file(base + "/__main__.py")) return base + "/__main__.py";
  return {};
}

std::string below(std::string_view folder, std::string_view path) {
  if (folder.empty() || folder == ".") return std::string(path);
  return std::string(folder) + "/" + std::string(path);
}

/// Visits the lines of the files that say what a package installs, until one is taken: those at the
/// top, then those of the folders there.
template <class Take>
void each_setup_line(tree::Tree& tree, const Take& take) {
  std::vector<std::string> folders{"."};
  for (const tree::TreeEntry& entry : tree.list("")) {
    if (entry.is_folder) folders.push_back(entry.path);
  }
  for (const std::string& folder : folders) {
    for (const std::string_view name : {"pyproject.toml", "setup.cfg", "setup.py"}) {
      const std::string file = below(folder, name);
      if (!tree.is_file(file)) continue;
      const auto text = tree.read(file);
      if (!text) continue;
      for (int i = 1; i <= (*text)->lines(); ++i)
        if (take((*text)->line(i))) return;
    }
  }
}

}  // namespace

std::string module_file(tree::Tree& tree, std::string_view cwd, std::string_view module) {
  if (!is_dotted(module)) return {};
  std::string path(module);
  std::ranges::replace(path, '.', '/');
  std::vector<std::string> folders{std::string(cwd), below(cwd, "src"), ".", "src"};
  for (const auto& folder : folders) {
    auto file = file_of(tree, below(folder, path));
    if (!file.empty()) return file;
  }
  // A package that setup.py installs from a folder of another name (lib/, python/).
  const auto package = path.substr(0, path.find('/'));
  if (tree.is_folder(package)) return {};
  for (const auto& entry : tree.list("")) {
    if (!entry.is_folder || !tree.is_folder(below(entry.path, package))) continue;
    auto file = file_of(tree, below(entry.path, path));
    if (!file.empty()) return file;
  }
  return {};
}

std::string script_file(tree::Tree& tree, std::string_view cwd, const Word& word) {
  auto path = word.known ? path_in_tree(cwd, word.text) : std::nullopt;
  const bool there = path && (tree.is_file(*path) || tree.is_folder(*path));
  const bool anywhere = !word.known || word.text.starts_with('/') || word.text.starts_with("..");
  if (!there)
    path = anywhere && word.text.contains('/') ? end_in_tree(tree, word.text) : std::nullopt;
  if (!path) return {};
  if (tree.is_file(*path)) return *path;
  const auto main = below(*path, "__main__.py");
  return tree.is_file(main) ? main : std::string();
}

std::string dora_module(const ProgramCall& call, LaunchContext& context) {
  const auto value_of_option = [&](std::initializer_list<std::string_view> names,
                                   const std::string& variable,
                                   std::string_view otherwise) -> std::string {
    const Option* option = call.option(std::span(names.begin(), names.size()));
    if (option != nullptr && option->value) return option->value->text;
    const auto set = context.made.env.find(variable);
    return set != context.made.env.end() ? set->second.text : std::string(otherwise);
  };
  const std::string main = value_of_option({"M", "main-module"}, "DORA_MAIN_MODULE", "train");
  std::string package = value_of_option({"P", "package"}, "DORA_PACKAGE", "");
  if (package.empty()) {
    for (const tree::TreeEntry& entry : context.tree.list(context.made.cwd)) {
      const std::string file = entry.path + "/" + main + ".py";
      if (entry.is_folder && context.tree.is_file(file)) package = base_name(entry.path);
    }
  }
  return package.empty() ? main : package + "." + main;
}

std::optional<EntryPoint> console_script(tree::Tree& tree, std::string_view name) {
  std::optional<EntryPoint> found;
  if (name.empty() || name.size() > longest_name) return found;
  each_setup_line(tree, [&](std::string_view line) {
    found = entry_in(line, name);
    return found.has_value();
  });
  return found;
}

std::string installed_script(tree::Tree& tree, std::string_view name) {
  std::string found;
  if (name.empty() || name.size() > longest_name) return found;
  each_setup_line(tree, [&](std::string_view line) {
    constexpr std::string_view quotes = "'\"";
    for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const auto end = at + name.size();
      const auto begin = line.find_last_of(quotes, at);
      if (begin == std::string_view::npos || line.substr(end).find_first_of(quotes) != 0) continue;
      const auto path = line.substr(begin + 1, end - begin - 1);
      if (base_name(path) != name || !path.contains('/') || !tree.is_file(path)) continue;
      found = path;
      return true;
    }
    return false;
  });
  return found;
}

}  // namespace schedmate::command
