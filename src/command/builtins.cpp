// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "command/edits.hpp"
#include "command/paths.hpp"
#include "command/programs.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

int count_of(const Arguments& argv) {
  return static_cast<int>(std::clamp<std::int64_t>(
      argv.size() > 1 ? shell_number(word_at(argv, 1)).value_or(1) : 1, 0, 1'000'000));
}

void leave(Shell& shell, Flow flow, int levels = 1) {
  shell.state().flow = flow;
  shell.state().flow_levels = levels;
}

void cd(Shell& shell, const Arguments& argv) {
  std::size_t at = 1;
  while (at < argv.size() && word_at(argv, at).starts_with('-') && word_at(argv, at).size() == 2)
    ++at;
  if (at >= argv.size()) return;
  const auto to = word_at(argv, at);
  if (argv[at].text.empty()) return;
  const auto last = shell.state().variables.find("OLDPWD");
  const bool back = to == "-" && last != shell.state().variables.end();
  const Text target = back ? last->second.items.front() : argv[at].text;
  if (back || to != "-") shell.change_folder(target);
}

void source(Shell& shell, const Arguments& argv) {
  if (argv.size() < 2) return;
  const auto text = plain(argv[1].text);
  const auto path = text ? path_in_tree(shell.state().cwd, *text) : std::nullopt;
  if (path && shell.tree().is_file(*path))
    return shell.source_file(*path, std::span(argv).subspan(2));
  const auto name = word_at(argv, 1);
  const bool environment_only = name.ends_with("activate") || name.ends_with("rc") ||
                                name.contains("conda") || name.ends_with("profile") ||
                                name.contains("/etc/");
  if (!environment_only) shell.note_here(fmt::format("'source {}': not in the tree", name));
}

void eval(Shell& shell, const Arguments& argv) {
  Text all;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (i > 1) append(all, literal(" ", argv[i].use));
    append(all, argv[i].text);
  }
  if (all.empty()) return;
  if (!known(all)) shell.note_here("part of what 'eval' runs is not known");
  shell.run_text(script_of(all, shell.state().script));
}

void set(Shell& shell, const Arguments& argv) {
  std::size_t at = 1;
  for (; at < argv.size(); ++at) {
    const auto text = word_at(argv, at);
    if (text == "--") {
      shell.state().positional.clear();
      shell.state().positional_known = true;
      ++at;
      break;
    }
    if (!text.starts_with('-') && !text.starts_with('+')) {
      shell.state().positional.clear();
      break;
    }
    if (text.ends_with('o') && !text.starts_with("--")) ++at;  // -o NAME, -euo NAME
  }
  for (; at < argv.size(); ++at) shell.state().positional.push_back(argv[at].text);
}

void shift(Shell& shell, const Arguments& argv) {
  auto& positional = shell.state().positional;
  const auto count = static_cast<std::size_t>(count_of(argv));
  shell.state().status = count <= positional.size() ? Truth::yes : Truth::no;
  if (count > positional.size()) return;
  positional.erase(positional.begin(), positional.begin() + static_cast<std::ptrdiff_t>(count));
}

void unset(Shell& shell, const Arguments& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (word_at(argv, i).starts_with('-')) continue;
    const auto found = shell.state().variables.find(word_at(argv, i));
    if (found != shell.state().variables.end()) shell.state().variables.erase(found);
  }
}

/// What is read is known where it comes from a here-string or a pipe of known text.
void read(Shell& shell, const Arguments& argv) {
  std::vector<std::string> names;
  bool array = false;
  bool prompts = false;
  bool whole = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto text = word_at(argv, i);
    if (text == "-d" && i + 1 < argv.size() && word_at(argv, i + 1).empty()) {
      // No line ends it: `read -r -d '' command <<EOF`.
      ++i;
      whole = true;
    } else if (text == "-p" || text == "-d" || text == "-t" || text == "-n" || text == "-u") {
      ++i;
      prompts = true;
    } else if (text.starts_with('-')) {
      array = array || text.ends_with('a');
    } else if (is_name(text)) {
      names.push_back(text);
    }
  }
  const Text* const input = shell.input();
  const bool one_line = input != nullptr && known(*input) && !prompts &&
                        (whole || std::ranges::count(written(without_line_end(*input)), '\n') == 0);
  const bool custom_blanks = shell.state().variables.contains("IFS");
  if (!one_line || custom_blanks) {
    for (const auto& name : names) {
      Variable made;
      made.items = {unknown("$" + name, argv[0].use)};
      shell.state().variables[name] = std::move(made);
    }
    shell.state().status = Truth::unknown;
    return;
  }
  auto fields = split_at_blanks(*input);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Variable made;
    made.array = array;
    if (array) {
      made.items = fields;
    } else if (i + 1 == names.size() && i < fields.size()) {
      made.items = {joined(std::span(fields).subspan(i), argv[0].use)};
    } else {
      made.items = {i < fields.size() ? fields[i] : Text()};
    }
    shell.state().variables[names[i]] = std::move(made);
  }
  // A loop around `read` sees the same text again: one round is all that is known.
  shell.state().status = Truth::unknown;
}

void let(Shell& shell, const Arguments& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i)
    shell.expander().number(word_at(argv, i), argv[i].use);
}

/// One option of the positional words, as bash's getopts takes it.
void getopts(Shell& shell, const Arguments& argv) {
  State& state = shell.state();
  const auto specification = word_at(argv, 1);
  const auto variable = word_at(argv, 2);
  const auto get = [&](const char* name) {
    const auto found = state.variables.find(name);
    if (found == state.variables.end() || found->second.items.empty()) return std::int64_t{1};
    return shell_number(written(found->second.items[0])).value_or(1);
  };
  const auto set_to = [&](const std::string& name, Text value) {
    state.variables[name].items = {std::move(value)};
  };
  const auto number = [&](std::int64_t value) {
    return literal(std::to_string(value), argv[0].use);
  };
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(get("OPTIND"), 1));
  const auto letter_at = static_cast<std::size_t>(std::max<std::int64_t>(get("OPT_LETTER"), 1));
  state.status = Truth::no;
  if (index > state.positional.size() || !state.positional_known) return;
  const Text option = state.positional[index - 1];
  const auto text = written(option);
  if (!text.starts_with('-') || text == "-") return;
  if (text == "--") return set_to("OPTIND", number(static_cast<std::int64_t>(index) + 1));
  if (letter_at >= text.size()) return;
  const char letter = text[letter_at];
  const auto spot = specification.find(letter);
  const bool valued = spot != std::string::npos && spot + 1 < specification.size() &&
                      specification[spot + 1] == ':';
  std::int64_t next = static_cast<std::int64_t>(index) + 1;
  std::int64_t next_letter = 1;
  if (valued && letter_at + 1 < text.size()) {
    set_to("OPTARG", literal(text.substr(letter_at + 1), place_of(option)));
  } else if (valued && index < state.positional.size()) {
    set_to("OPTARG", state.positional[index]);
    ++next;
  } else if (letter_at + 1 < text.size()) {
    --next;
    next_letter = static_cast<std::int64_t>(letter_at) + 1;
  }
  set_to(variable,
         literal(spot == std::string::npos ? "?" : std::string(1, letter), place_of(option)));
  set_to("OPTIND", number(next));
  set_to("OPT_LETTER", number(next_letter));
  state.status = Truth::yes;
}

void exec(Shell& shell, const Arguments& argv) {
  if (argv.size() < 2) return;
  shell.external({argv.begin() + 1, argv.end()}, {});
  leave(shell, Flow::leave);
}

void test(Shell& shell, const Arguments& argv) { shell.state().status = run_test(shell, argv); }

void refuse_ssh(Shell& shell, const Arguments&) {
  shell.note_here("what runs over ssh on another machine is not followed");
}

void several(Shell& shell, const Arguments& argv) {
  const auto name = word_at(argv, 0);
  shell.note_here(fmt::format("'{}' starts programs from a list; how many is not known", name));
  std::size_t at = 1;
  while (at < argv.size() && word_at(argv, at).starts_with('-')) {
    constexpr std::string_view valued[] = {"-n", "-I", "-P", "-L", "-d", "-a", "-j", "--jobs"};
    const auto option = word_at(argv, at);
    at += std::ranges::find(valued, option) != std::end(valued) ? 2 : 1;
  }
  Arguments command;
  for (; at < argv.size() && !word_at(argv, at).starts_with(":::"); ++at) {
    auto argument = argv[at];
    if (written(argument.text).contains("{")) {
      for (auto& piece : argument.text) piece.known = piece.known && !piece.text.contains('{');
    }
    command.push_back(std::move(argument));
  }
  if (command.size() == 1) {
    Script script;
    script.text = written(command[0].text);
    script.within = command[0].use;
    return shell.run_text(std::move(script));
  }
  if (!command.empty()) shell.external(command, {});
}

using Builtin = void (*)(Shell&, const Arguments&);

const std::map<std::string_view, Builtin>& builtins() {
  static const std::map<std::string_view, Builtin> table{
      {"cd", cd},
      {"chdir", cd},
      {"source", source},
      {".", source},
      {"eval", eval},
      {"exec", exec},
      {"set", set},
      {"shift", shift},
      {"unset", unset},
      {"read", read},
      {"let", let},
      {"getopts", getopts},
      {"test", test},
      {"[", test},
      {"ssh", refuse_ssh},
      {"xargs", several},
      {"parallel", several},
      {"sed", run_sed},
      {"cp", run_copy},
      {"tee", run_tee},
      {":", [](Shell&, const Arguments&) {}},
      {"true", [](Shell&, const Arguments&) {}},
      {"false", [](Shell& s, const Arguments&) { s.state().status = Truth::no; }},
      {"return", [](Shell& s, const Arguments&) { leave(s, Flow::leave_function); }},
      {"exit", [](Shell& s, const Arguments&) { leave(s, Flow::leave); }},
      {"break",
       [](Shell& s, const Arguments& a) { leave(s, Flow::stop_loop, std::max(count_of(a), 1)); }},
      {"continue",
       [](Shell& s, const Arguments& a) { leave(s, Flow::next_round, std::max(count_of(a), 1)); }},
      {"trap", [](Shell&, const Arguments&) {}},
      {"wait", [](Shell&, const Arguments&) {}},
      {"shopt", [](Shell&, const Arguments&) {}},
      {"ulimit", [](Shell&, const Arguments&) {}},
      {"umask", [](Shell&, const Arguments&) {}},
      {"sleep", [](Shell&, const Arguments&) {}},
  };
  return table;
}

}  // namespace

bool run_builtin(Shell& shell, const Arguments& argv) {
  const auto found = builtins().find(written(argv.front().text));
  if (found == builtins().end() || !is_modelled(found->first)) return false;
  shell.state().status = Truth::yes;
  found->second(shell, argv);
  return true;
}

bool run_declaration(Shell& shell, std::span<const std::string_view> raw, const PlacePtr& use) {
  const auto keyword = raw.front();
  bool exports = keyword == "export";
  bool associative = false;
  bool array = false;
  shell.state().status = Truth::yes;
  for (const auto text : raw.subspan(1)) {
    if (text.starts_with('-') || text.starts_with('+')) {
      exports = exports || (text.starts_with('-') && text.contains('x'));
      associative = associative || text.contains('A');
      array = array || text.contains('a');
      continue;
    }
    std::string expanded;
    auto assignment = split_assignment(text);
    if (!assignment && !is_name(text)) {  // export $NAME, export "A=b"
      const auto value = plain(shell.single(text, use));
      if (!value) {
        shell.note_here(fmt::format("'{} {}' is not known", keyword, text));
        continue;
      }
      expanded = *value;
      assignment = split_assignment(expanded);
    }
    const std::string name(assignment ? assignment->name : is_name(text) ? text : expanded);
    if (!is_name(name)) continue;
    if (keyword != "export" && keyword != "readonly") shell.hide_local(name);
    if (associative || array) {
      shell.state().variables[name].associative = associative;
      shell.state().variables[name].array = true;
    }
    if (assignment) shell.assign(*assignment, use);
    const auto found = shell.state().variables.find(name);
    if (exports && found != shell.state().variables.end()) found->second.exported = true;
  }
  return true;
}

}  // namespace schedmate::command
