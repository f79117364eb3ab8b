// SPDX-License-Identifier: Apache-2.0
#include "tests/tidy/modules.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>

#include "base/text.hpp"
#include "tests/tidy/code.hpp"

namespace schedmate::tidy {
namespace {

/// The same text with the comments of CMake turned into spaces.
std::string without_cmake_comments(std::string_view text) {
  std::string out(text);
  bool in_comment = false;
  for (char& c : out) {
    if (c == '#') in_comment = true;
    if (c == '\n') in_comment = false;
    if (in_comment) c = ' ';
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) break;
    const auto end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

constexpr std::string_view target_prefix = "schedmate_";

std::string target_of(std::string_view module) {
  std::string target(target_prefix);
  for (const char c : module) target += c == '/' ? '_' : c;
  return target;
}

Module read_declaration(std::string_view arguments) {
  Module module;
  bool in_links = false;
  for (const auto& word : words_of(arguments)) {
    if (module.name.empty()) {
      module.name = word;
    } else if (word == "LINK") {
      in_links = true;
    } else if (in_links && word.starts_with(target_prefix)) {
      module.links.push_back(word);
    }
  }
  return module;
}

using NameSet = std::set<std::string>;

/// Functions that a file declares, or that it defines.
NameSet function_names(const File& file, bool defined) {
  NameSet names;
  for (const auto& function : find_functions(blank_non_code(file.text))) {
    if ((function.lines > 0) == defined) names.insert(function.name);
  }
  return names;
}

/// The words before an opening bracket.
NameSet called_names(const File& file) {
  static const std::regex call(R"(([A-Za-z_]\w*)\s*\()");
  const auto code = blank_non_code(file.text);
  NameSet names;
  for (std::sregex_iterator match(code.begin(), code.end(), call), end; match != end; ++match) {
    names.insert((*match)[1].str());
  }
  return names;
}

NameSet common(const NameSet& one, const NameSet& other) {
  NameSet both;
  std::ranges::set_intersection(one, other, std::inserter(both, both.end()));
  return both;
}

/// Functions of each public header, by the module that defines them.
using Definitions = std::map<const File*, std::map<std::string, NameSet>>;

Definitions definitions(const Tree& tree, const Includes& includes) {
  std::map<const File*, NameSet> declared;
  for (const auto& file : tree.files) {
    if (is_public(file) && is_header(file)) declared[&file] = function_names(file, false);
  }
  Definitions found;
  for (const auto& file : tree.files) {
    const std::string module(module_of(file.path));
    if (module.empty() || is_test(file) || !file.path.ends_with(".cpp")) continue;
    const auto defined = function_names(file, true);
    for (const File* header : includes.public_headers(&file)) {
      const auto both = common(declared[header], defined);
      if (!both.empty()) found[header][module].insert(both.begin(), both.end());
    }
  }
  return found;
}

}  // namespace

std::vector<Module> declared_modules(const Tree& tree) {
  const File* const cmake = tree.find("CMakeLists.txt");
  if (cmake == nullptr) return {};
  const auto text = without_cmake_comments(cmake->text);
  constexpr std::string_view command = "schedmate_module(";
  std::vector<Module> modules;
  std::map<std::string, std::string> names;
  for (auto at = text.find(command); at != std::string::npos; at = text.find(command, at + 1)) {
    const auto begin = at + command.size();
    auto module = read_declaration(text.substr(begin, text.find(')', begin) - begin));
    module.line = 1 + static_cast<int>(std::count(
                          text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    module.target = target_of(module.name);
    names.emplace(module.target, module.name);
    modules.push_back(std::move(module));
  }
  for (auto& module : modules) {
    for (auto& link : module.links) {
      if (const auto name = names.find(link); name != names.end()) link = name->second;
    }
  }
  return modules;
}

std::string_view module_of(std::string_view path) {
  if (!path.starts_with("src/")) return "";
  path.remove_prefix(4);
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

Includes::Includes(const Tree& tree) {
  static const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  for (const auto& file : tree.files) files_.emplace(file.path, &file);
  for (const auto& file : tree.files) {
    if (!is_cpp(file) || is_foreign(file)) continue;
    int line = 0;
    for (const auto text : split(file.text, '\n')) {
      ++line;
      std::cmatch match;
      if (!text.contains('#') || !std::regex_search(text.begin(), text.end(), match, include))
        continue;
      const File* const target = resolved(file, match[1].str());
      if (target == nullptr) continue;
      all_.push_back({&file, line, target});
      targets_.emplace(&file, target);
    }
  }
}

const File* Includes::resolved(const File& file, std::string_view target) const {
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  for (const std::filesystem::path& root :
       {folder, std::filesystem::path("src"), std::filesystem::path("include"),
        std::filesystem::path()}) {
    const auto found = files_.find((root / target).lexically_normal().generic_string());
    if (found != files_.end()) return found->second;
  }
  return nullptr;
}

std::set<const File*> Includes::public_headers(const File* file) const {
  std::set<const File*> seen;
  std::vector<const File*> open{file};
  while (!open.empty()) {
    const auto [first, last] = targets_.equal_range(open.back());
    open.pop_back();
    for (auto each = first; each != last; ++each) {
      if (seen.insert(each->second).second) open.push_back(each->second);
    }
  }
  std::erase_if(seen, [](const File* each) { return !is_public(*each); });
  return seen;
}

Uses uses_of_modules(const Tree& tree, const Includes& includes) {
  Uses uses;
  for (const auto& include : includes.all()) {
    const std::string user(module_of(include.file->path));
    const std::string used(module_of(include.target->path));
    if (user.empty() || used.empty() || user == used || is_test(*include.file)) continue;
    ++uses[user][used].includes;
  }
  const auto defined = definitions(tree, includes);
  for (const auto& file : tree.files) {
    const std::string user(module_of(file.path));
    if (user.empty() || is_test(file) || !is_cpp(file)) continue;
    const auto called = called_names(file);
    for (const File* header : includes.public_headers(&file)) {
      const auto places = defined.find(header);
      if (places == defined.end()) continue;
      for (const auto& [used, names] : places->second) {
        if (used == user || common(names, called).empty()) continue;
        uses[user][used].public_headers.insert(header->path);
      }
    }
  }
  return uses;
}

}  // namespace schedmate::tidy
