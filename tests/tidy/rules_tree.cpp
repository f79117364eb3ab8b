// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <tuple>

#include "base/text.hpp"
#include "tests/tidy/modules.hpp"
#include "tests/tidy/rules.hpp"

namespace schedmate::tidy {
namespace {

bool is_elsewhere(std::string_view target) {
  return target.empty() || target.starts_with('#') || target.contains("://") ||
         target.starts_with("mailto:");
}

/// The path in the tree that a link in `file` means; starts with ".." when it leaves the tree.
std::string resolve(const File& file, std::string target) {
  target = target.substr(0, target.find('#'));
  const auto folder = std::filesystem::path(file.path).parent_path();
  const auto path =
      target.starts_with('/') ? std::filesystem::path(target.substr(1)) : folder / target;
  auto normal = path.lexically_normal().generic_string();
  if (normal.ends_with('/')) normal.pop_back();
  return normal;
}

Findings check_links_of(const Tree& tree, const File& file) {
  static const std::regex link(R"(\]\(<?([^()\s>]+)>?(?:\s+"[^"]*")?\))");
  Findings found;
  int line = 0;
  bool in_block = false;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    if (trim(text).starts_with("```")) in_block = !in_block;
    if (in_block) continue;
    for (std::cregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const auto target = (*match)[1].str();
      if (is_elsewhere(target)) continue;
      const auto path = resolve(file, target);
      if (path == "." || tree.find(path) != nullptr || tree.has_folder(path)) continue;
      found.push_back({file.path, line, "the link leads nowhere: " + target,
                       "link to a file of the tree, relative to this one"});
    }
  }
  return found;
}

struct Row {
  std::string kind;  ///< "POLICY"
  std::string name;  ///< "sjf"
  int line = 0;
};

std::vector<Row> rows_of(const File& table) {
  static const std::regex row(R"(^([A-Z_]+)\(\s*"?([\w+-]+))");
  std::vector<Row> rows;
  int line = 0;
  for (const auto text : split(table.text, '\n')) {
    ++line;
    std::cmatch match;
    if (std::regex_search(text.begin(), text.end(), match, row)) {
      rows.push_back({match[1].str(), match[2].str(), line});
    }
  }
  return rows;
}

bool is_word_at(std::string_view text, std::size_t at, std::size_t size) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return (at == 0 || !is_word(text[at - 1])) &&
         (at + size >= text.size() || !is_word(text[at + size]));
}

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (is_word_at(text, at, word.size())) return true;
  }
  return false;
}

bool any_path_starts(const Tree& tree, const std::string& prefix) {
  return std::ranges::any_of(tree.files,
                             [&](const File& file) { return file.path.starts_with(prefix); });
}

/// Rows have common words as names ("limit"), so that a mention counts only as code: `limit`. A
/// format has a page of its own.
bool is_documented(const Tree& tree, const Row& row) {
  if (row.kind == "FORMAT") return tree.find("docs/formats/" + row.name + ".md") != nullptr;
  return std::ranges::any_of(tree.files, [&](const File& file) {
    return is_markdown(file) && file.path.starts_with("docs/") &&
           has_word(file.text, "`" + row.name);
  });
}

/// A policy needs a scenario, a format a good and a broken fixture; anything else a test that
/// names it.
bool is_tested(const Tree& tree, const Row& row) {
  if (row.kind == "FORMAT") {
    const std::string fixture = "tests/fixtures/traces/" + row.name;
    return any_path_starts(tree, fixture + "_broken") &&
           std::ranges::any_of(tree.files, [&](const File& file) {
             return file.path.starts_with(fixture) && !file.path.starts_with(fixture + "_broken");
           });
  }
  return std::ranges::any_of(tree.files, [&](const File& file) {
    const bool counts =
        row.kind == "POLICY" ? file.path.ends_with(".scn") : is_test(file) && !is_markdown(file);
    return counts && has_word(file.text, row.name);
  });
}

std::string wanted_page(const Row& row) {
  return row.kind == "FORMAT" ? "write docs/formats/" + row.name + ".md"
                              : "describe it as `" + row.name + "` in a page of docs/";
}

std::string wanted_test(const Row& row) {
  if (row.kind == "POLICY") return "add a scenario of it to tests/scenarios/";
  if (row.kind != "FORMAT") return "name it in a test";
  const std::string fixture = "tests/fixtures/traces/" + row.name;
  return "add " + fixture + ".EXT and " + fixture + "_broken.EXT";
}

/// Is this CMakeLists.txt read by that of a folder above it?
bool is_added(const Tree& tree, const File& cmake) {
  const auto folder = std::filesystem::path(cmake.path).parent_path();
  for (auto above = folder; !above.empty();) {
    above = above.parent_path();
    const auto* const upper = tree.find((above / "CMakeLists.txt").generic_string());
    const auto name = folder.lexically_relative(above.empty() ? "." : above).generic_string();
    if (upper != nullptr && upper->text.contains("add_subdirectory(" + name + ")")) return true;
  }
  return folder.empty();
}

}  // namespace

Findings check_file_bytes(const Tree& tree, const Limits& limits) {
  Findings found;
  for (const auto& file : tree.files) {
    const bool rows = is_foreign(file) || file.path.starts_with("evaluation/");
    const auto limit = rows ? limits.foreign_file_bytes : limits.file_bytes;
    if (file.size_bytes <= limit) continue;
    found.push_back({file.path, 0, fmt::format("{} bytes, limit {}", file.size_bytes, limit),
                     "make it smaller, generate it, or (up to 2 MB) put it into data/"});
  }
  return found;
}

Findings check_rooms(const Tree& tree, const Limits& limits) {
  std::map<std::string, int> sources;
  for (const auto& file : tree.files) {
    if (!file.path.starts_with("src/") || !file.path.ends_with(".cpp") || is_test(file)) continue;
    ++sources[file.path.substr(0, file.path.rfind('/'))];
  }
  Findings found;
  for (const auto& [folder, count] : sources) {
    if (count <= limits.sources_of_a_folder) continue;
    found.push_back({folder, 0,
                     fmt::format("{} sources, limit {}", count, limits.sources_of_a_folder),
                     "make several rooms of it, each a module that uses only those before it"});
  }
  return found;
}

Findings check_programs(const Tree& tree, const Limits& limits) {
  int lines = 0;
  for (const auto& file : tree.files) {
    if (!file.path.starts_with("apps/") || !is_cpp(file) || is_test(file)) continue;
    lines += static_cast<int>(std::ranges::count(file.text, '\n'));
  }
  if (lines <= limits.lines_of_apps) return {};
  return {{"apps", 0, fmt::format("{} lines, limit {}", lines, limits.lines_of_apps),
           "a command reads flags and writes text; what it does goes to src/service"}};
}

Findings check_links(const Tree& tree) {
  Findings found;
  for (const auto& file : tree.files) {
    if (!is_markdown(file)) continue;
    const auto more = check_links_of(tree, file);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

Findings check_table_rows(const Tree& tree) {
  Findings found;
  for (const auto& file : tree.files) {
    if (!file.path.ends_with(".def")) continue;
    for (const auto& row : rows_of(file)) {
      if (!is_documented(tree, row)) {
        found.push_back({file.path, row.line, row.name + " is not documented", wanted_page(row)});
      }
      if (!is_tested(tree, row)) {
        found.push_back({file.path, row.line, row.name + " is not tested", wanted_test(row)});
      }
    }
  }
  return found;
}

Findings check_in_build(const Tree& tree) {
  Findings found;
  const auto named_in_cmake = [&](const File& source) {
    const auto name = source.path.substr(source.path.rfind('/') + 1);
    return std::ranges::any_of(tree.files, [&](const File& file) {
      return file.path.ends_with("CMakeLists.txt") && has_word(file.text, name);
    });
  };
  for (const auto& file : tree.files) {
    if (is_foreign(file)) continue;
    if (file.path.ends_with(".scn") && !file.path.starts_with("tests/scenarios/")) {
      found.push_back(
          {file.path, 0, "a scenario that nothing runs", "move it to tests/scenarios/"});
    }
    if (file.path.ends_with("CMakeLists.txt") && !is_added(tree, file)) {
      found.push_back({file.path, 0, "not part of the build", "add_subdirectory() its folder"});
    }
    if (!file.path.ends_with(".cpp") || tree.compile_commands.empty()) continue;
    if (tree.compile_commands.contains("/" + file.path + "\"") || named_in_cmake(file)) continue;
    found.push_back({file.path, 0, "not part of the build",
                     "put it where CMake's globs find it, or configure again"});
  }
  return found;
}

/// Two types of one name in one namespace share the code of their inline members: the linker keeps
/// one of the two, and whoever wanted the other reads what is not there.
Findings check_type_names(const Tree& tree) {
  static const std::regex space(R"(^namespace ([\w:]+) \{$)");
  static const std::regex type(R"(^(struct|class|enum class) ([A-Z]\w*)( final)?( :.*| \{|$))");
  std::map<std::string, std::string> places;
  Findings found;
  for (const auto& file : tree.files) {
    if (!is_header(file) || is_foreign(file)) continue;
    std::vector<std::string> open;  // namespaces around the line
    int line = 0;
    for (const auto text : split(file.text, '\n')) {
      ++line;
      std::match_results<std::string_view::const_iterator> match;
      if (std::regex_search(text.begin(), text.end(), match, space)) open.push_back(match[1]);
      if (text.starts_with("}  // namespace ") && !open.empty()) open.pop_back();
      if (!std::regex_search(text.begin(), text.end(), match, type)) continue;
      const auto name = fmt::format("{}::{}", fmt::join(open, "::"), match[2].str());
      const auto [known, is_new] = places.emplace(name, file.path);
      if (is_new || known->second == file.path) continue;
      found.push_back({file.path, line, fmt::format("{} is also in {}", name, known->second),
                       "rename one of the two"});
    }
  }
  return found;
}

/// Headers of src/log/lines open schedmate::lines. What include/, src/base and src/core declare is
/// what the modules talk about to each other; it is in schedmate itself, and in no other folder
/// does a type stand there. `schedmate::embedded` is that of generated sources.
Findings check_namespaces(const File& file) {
  static const std::regex space(R"(^namespace schedmate(?:::(\w+))?[\w:]* \{$)");
  static const std::regex type(R"(^(struct|class|enum class) ([A-Z]\w*)[^;]*$)");
  const auto module = module_of(file.path);
  if (module.empty() || module == "base" || module == "core" || is_test(file)) return {};
  const auto folders = split(module, '/');
  const std::string wanted =
      fmt::format("it belongs to schedmate::{}", fmt::join(folders, " or schedmate::"));
  Findings found;
  bool is_opened = false;
  bool is_outer = false;
  int line = 0;
  for (const auto text : split(file.text, '\n')) {
    ++line;
    std::match_results<std::string_view::const_iterator> match;
    if (std::regex_search(text.begin(), text.end(), match, space)) {
      is_outer = !match[1].matched;
      const bool own = match[1].matched && std::ranges::count(folders, match[1].str()) > 0;
      is_opened = is_opened || own;
      if (!is_outer && !own && match[1] != "embedded")
        found.push_back({file.path, line, "a namespace of another module", wanted});
    } else if (is_outer && is_header(file) &&
               std::regex_search(text.begin(), text.end(), match, type)) {
      found.push_back({file.path, line, match[2].str() + " is in the namespace of all", wanted});
    }
  }
  if (is_header(file) && !is_opened) found.push_back({file.path, 0, "no namespace", wanted});
  return found;
}

Findings check_all(const Tree& tree) {
  const Limits limits;
  Findings all;
  const auto add = [&](const Findings& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const auto& file : tree.files) {
    if (is_foreign(file)) continue;
    add(check_licence_line(file));
    add(check_leftovers(file));
    add(check_places(file));
    add(check_shared_data(file));
    add(check_verdicts(file));
    if (!is_cpp(file)) continue;
    add(check_libraries(file));
    add(check_toml_readers(file));
    add(check_redaction(file));
    add(check_printing(file));
    add(check_sizes(file, limits));
    add(check_header_comments(file, limits));
    add(check_banned_words(file));
    add(check_clocks(file));
    add(check_static_state(file));
    add(check_namespaces(file));
  }
  add(check_layers(tree));
  add(check_citations(tree));
  add(check_file_bytes(tree, limits));
  add(check_rooms(tree, limits));
  add(check_programs(tree, limits));
  add(check_links(tree));
  add(check_table_rows(tree));
  add(check_in_build(tree));
  add(check_type_names(tree));
  std::ranges::sort(all, {}, [](const Finding& f) { return std::tie(f.path, f.line, f.what); });
  return all;
}

}  // namespace schedmate::tidy
