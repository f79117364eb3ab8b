// SPDX-License-Identifier: Apache-2.0
#include "command/edits.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>

#include "base/text.hpp"
#include "command/paths.hpp"

namespace schedmate::shell {
namespace {

constexpr std::size_t most_bytes = 1 << 18;
constexpr std::size_t most_line_bytes = 2000;

struct Substitution {
  std::string pattern;
  std::string by;
  bool all = false;
};

/// Parts of `s/a/b/flags` with any mark in place of '/'.
std::optional<Substitution> parse(std::string_view text) {
  text = trim(text);
  if (text.size() < 4 || text[0] != 's') return std::nullopt;
  const char mark = text[1];
  std::string parts[3];
  std::size_t part = 0;
  for (std::size_t i = 2; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    if (escape && text[i + 1] == mark) {
      parts[part] += text[++i];
    } else if (escape) {
      parts[part] += text[i];
      parts[part] += text[++i];
    } else if (text[i] == mark && part < 2) {
      ++part;
    } else {
      parts[part] += text[i];
    }
  }
  const bool simple = part == 2 && (parts[2].empty() || parts[2] == "g") && mark != '\n';
  const bool back_reference = std::ranges::any_of(std::string_view("123456789"), [&](char c) {
    return (parts[0] + parts[1]).contains(std::string("\\") + c);
  });
  if (!simple || back_reference || parts[0].size() > 200 || parts[0].contains('{'))
    return std::nullopt;
  std::string by;
  for (std::size_t i = 0; i < parts[1].size(); ++i) {
    if (parts[1][i] == '&') return std::nullopt;
    if (parts[1][i] == '\\' && i + 1 < parts[1].size()) ++i;
    by += parts[1][i];
  }
  return Substitution{std::move(parts[0]), std::move(by), parts[2] == "g"};
}

std::string edited_line(std::string_view line, const regex_t& pattern, const Substitution& what) {
  std::string rest(line);
  std::string made;
  regmatch_t found;
  bool first = true;
  while (regexec(&pattern, rest.c_str(), 1, &found, first ? 0 : REG_NOTBOL) == 0) {
    made += rest.substr(0, static_cast<std::size_t>(found.rm_so)) + what.by;
    const bool empty = found.rm_eo == found.rm_so;
    rest.erase(0, static_cast<std::size_t>(found.rm_eo));
    first = false;
    if (!what.all || empty || rest.empty()) break;
  }
  return made + rest;
}

struct SedCall {
  std::vector<std::string> expressions;
  std::vector<Text> files;
  bool in_place = false;
  bool extended = false;
  bool understood = true;
};

SedCall read_sed(const Arguments& argv) {
  SedCall call;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto text = plain(argv[i].text);
    if (text && text->starts_with("-") && text->size() > 1) {
      call.in_place = call.in_place || text->starts_with("-i") || text->starts_with("--in-place");
      call.extended = call.extended || *text == "-E" || *text == "-r" || *text == "-Ei";
      if (*text == "-e" && i + 1 < argv.size()) {
        const auto expression = plain(argv[++i].text);
        call.understood = call.understood && expression;
        if (expression) call.expressions.push_back(*expression);
      }
    } else if (call.expressions.empty() && call.understood) {
      call.understood = text.has_value();
      if (text) call.expressions.push_back(*text);
    } else {
      call.files.push_back(argv[i].text);
    }
  }
  return call;
}

void edit_file(Shell& shell, const Text& file, const SedCall& call) {
  const auto text = plain(file);
  const auto path = text ? path_in_tree(shell.state().cwd, *text) : std::nullopt;
  if (!path) return shell.note_here("'sed -i' changes a file that is not known");
  shell.add_edit(*path);
  auto content = shell.content_of(*text, place_of(file));
  std::optional<std::string> made = content ? plain(*content) : std::nullopt;
  for (const auto& expression : call.expressions) {
    if (made) made = edited(*made, expression, call.extended);
  }
  if (!made || !call.understood)
    return shell.note_here(fmt::format("what 'sed -i' makes of '{}' is not known", *path));
  shell.write_file(*path, {std::move(*made), place_of(file), true}, false);
}

}  // namespace

std::optional<std::string> edited(std::string_view text, std::string_view expression,
                                  bool extended) {
  const auto what = parse(expression);
  regex_t pattern;
  if (!what || text.size() > most_bytes ||
      regcomp(&pattern, what->pattern.c_str(), extended ? REG_EXTENDED : 0) != 0)
    return std::nullopt;
  std::string made;
  bool first = true;
  for (const auto line : split(text, '\n')) {
    if (!first) made += '\n';
    first = false;
    made += line.size() > most_line_bytes ? std::string(line) : edited_line(line, pattern, *what);
  }
  regfree(&pattern);
  return made;
}

void run_sed(Shell& shell, const Arguments& argv) {
  const SedCall call = read_sed(argv);
  if (call.in_place) {
    for (const auto& file : call.files) edit_file(shell, file, call);
    return;
  }
  std::optional<std::string> text;
  if (call.files.size() == 1) {
    const auto path = plain(call.files[0]);
    const auto content = path ? shell.content_of(*path, argv[0].use) : std::nullopt;
    if (content) text = plain(*content);
  } else if (call.files.empty() && shell.input() != nullptr) {
    text = plain(*shell.input());
  }
  for (const auto& expression : call.expressions) {
    if (text) text = edited(*text, expression, call.extended);
  }
  const bool good = text && call.understood;
  shell.print(good ? literal(std::move(*text), argv[0].use) : unknown("", argv[0].use));
}

void run_copy(Shell& shell, const Arguments& argv) {
  if (argv.size() != 3) return;
  const auto from = plain(argv[1].text);
  const auto to = plain(argv[2].text);
  const auto content = from && to ? shell.content_of(*from, argv[1].use) : std::nullopt;
  auto path = to ? path_in_tree(shell.state().cwd, *to) : std::nullopt;
  if (!content || !path) return;
  if (shell.tree().is_folder(*path)) *path += "/" + std::string(base_name(*from));
  shell.write_file(*path, {written(*content), argv[1].use, true}, false);
}

void run_tee(Shell& shell, const Arguments& argv) {
  if (shell.input() == nullptr) return;
  const Text& text = *shell.input();
  shell.print(text);
  bool appends = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto name = plain(argv[i].text);
    if (!name) continue;
    appends = appends || *name == "-a";
    const auto path = path_in_tree(shell.state().cwd, *name);
    const bool says_something = !written(text).empty();
    if (!name->starts_with('-') && path && says_something)
      shell.write_file(*path, {written(text), place_of(text), known(text)}, appends);
  }
}

}  // namespace schedmate::shell
