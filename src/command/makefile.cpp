// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

constexpr int deepest_variable = 20;
constexpr std::size_t most_value_bytes = 20'000;

struct Rule {
  std::vector<std::string> needs;
  std::vector<std::pair<int, std::string>> recipe;  ///< first line and text
};

struct MakeVariable {
  std::string value;
  PlacePtr place;
  bool given = false;  ///< on the command line: assignments of the file do not count
};

class Makefile {
 public:
  Makefile(Shell& shell, const tree::TextFile& file) : shell_(shell), file_(file) {}

  void set(std::string_view name, MakeVariable variable) {
    variables_[std::string(name)] = std::move(variable);
  }

  void read() {
    for (int i = 1; i <= file_.lines();) {
      const int first = i;
      std::string line(file_.line(i++));
      while (line.ends_with('\\') && i <= file_.lines())
        line += "\n" + std::string(file_.line(i++));
      take_line(line, first);
    }
  }

  void make(std::string goal) {
    if (goal.empty()) goal = first_;
    make(goal, 0);
  }

 private:
  void take_line(const std::string& line, int number) {
    if (line.starts_with('\t')) {
      for (const auto& target : current_)
        rules_[target].recipe.emplace_back(number, line.substr(1));
      return;
    }
    auto text = std::string_view(line).substr(0, line.find('#'));
    text = trim(text);
    for (const std::string_view word : {"ifeq", "ifneq", "ifdef", "ifndef", "include", "define"}) {
      if (text.starts_with(word))
        shell_.note(fmt::format("{}:{}: '{}' is not followed", file_.path, number, word));
    }
    if (text.starts_with("export ")) text = trim(text.substr(7));
    const auto equals = text.find('=');
    const auto colon = text.find(':');
    if (equals != std::string_view::npos && (colon > equals || colon + 1 == equals))
      return take_variable(text, equals, number);
    current_.clear();
    if (colon == std::string_view::npos) return;
    Rule rule;
    for (const auto need : words(text.substr(colon + 1))) rule.needs.emplace_back(need);
    for (const auto target : words(text.substr(0, colon))) {
      current_.emplace_back(target);
      auto& needs = rules_[std::string(target)].needs;
      needs.insert(needs.end(), rule.needs.begin(), rule.needs.end());
      if (first_.empty() && !target.starts_with('.')) first_ = target;
    }
  }

  void take_variable(std::string_view text, std::size_t equals, int number) {
    auto name = text.substr(0, equals);
    const bool adds = name.ends_with('+');
    const bool if_unset = name.ends_with('?');
    while (!name.empty() && std::string_view(":+?").contains(name.back())) name.remove_suffix(1);
    name = trim(name);
    const auto value = trim(text.substr(equals + 1));
    auto& variable = variables_[std::string(name)];
    const auto exported = shell_.state().variables.find(name);
    const bool from_outside =
        exported != shell_.state().variables.end() && exported->second.exported;
    if (variable.given || (if_unset && (variable.place || from_outside))) return;
    auto place = std::make_shared<Place>();
    place->file = file_.path;
    place->line = number;
    place->text = trim(file_.line(number));
    place->source = FactSource::shell;
    variable.value = adds ? variable.value + " " + std::string(value) : std::string(value);
    variable.place = std::move(place);
  }

  static std::vector<std::string_view> words(std::string_view text) {
    auto parts = split(text, ' ');
    std::erase(parts, "");
    return parts;
  }

  /// $(NAME) and ${NAME} by their values; $$ stays for the shell when `for_shell`.
  std::string expanded(std::string_view text, const std::string& goal, int depth) {
    std::string made;
    for (std::size_t i = 0; i < text.size() && made.size() < most_value_bytes; ++i) {
      if (text[i] != '$' || i + 1 >= text.size()) {
        made += text[i];
        continue;
      }
      const char next = text[++i];
      if (next == '$') {
        made += '$';
      } else if (next == '@') {
        made += goal;
      } else if (next == '<' || next == '^') {
        const auto& needs = rules_[goal].needs;
        if (!needs.empty())
          made += next == '<' ? needs.front() : fmt::format("{}", fmt::join(needs, " "));
      } else if (next == '(' || next == '{') {
        const std::size_t end = text.find(next == '(' ? ')' : '}', i);
        if (end == std::string_view::npos) break;
        made += value_of(text.substr(i + 1, end - i - 1), goal, depth);
        i = end;
      }
    }
    return made;
  }

  std::string value_of(std::string_view name, const std::string& goal, int depth) {
    const auto found = variables_.find(name);
    if (name == "MAKE") return "make";
    if (found == variables_.end() || depth > deepest_variable) return fmt::format("${{{}}}", name);
    std::string value = expanded(found->second.value, goal, depth + 1);
    const bool plain_words = value.find_first_of("'\"$;&|`\\<>(){}*?#~") == std::string::npos;
    if (!plain_words || !is_name(name) || in_quotes_) return value;
    // As a variable of the shell the value keeps the line that it was written at.
    shell_.state().variables[std::string(name)].items = {literal(value, found->second.place)};
    return depth == 0 ? fmt::format("${{{}}}", name) : value;
  }

  void make(const std::string& goal, int depth) {
    if (depth > deepest_variable || !made_.insert(goal).second) return;
    const auto rule = rules_.find(goal);
    if (rule == rules_.end()) {
      if (depth == 0) shell_.note(fmt::format("{}: no rule for '{}'", file_.path, goal));
      return;
    }
    for (const auto& need : rule->second.needs) make(expanded(need, goal, 1), depth + 1);
    for (const auto& [number, line] : rule->second.recipe) {
      in_quotes_ = line.contains('\'');
      std::string text = expanded(line, goal, 0);
      while (!text.empty() && std::string_view("@-+ \t").contains(text.front())) text.erase(0, 1);
      Script script;
      script.path = file_.path;
      script.text = std::move(text);
      script.file = &file_;
      script.first_line = number;
      shell_.in_subshell([&] { shell_.run_text(std::move(script)); });
    }
  }

  Shell& shell_;
  const tree::TextFile& file_;
  std::map<std::string, MakeVariable, std::less<>> variables_;
  std::map<std::string, Rule, std::less<>> rules_;
  std::vector<std::string> current_;
  std::string first_;
  std::set<std::string> made_;
  bool in_quotes_ = false;
};

}  // namespace

bool run_make(Shell& shell, std::span<const Word> argv, const Environment& env) {
  std::vector<std::string> goals;
  std::vector<const Word*> given;
  std::string name;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto& text = argv[i].text;
    const bool has_next = i + 1 < argv.size();
    if (text == "-C" && has_next) {
      shell.change_folder(to_text(argv[++i]));
    } else if (text == "-f" && has_next) {
      name = argv[++i].text;
    } else if ((text == "-j" || text == "-o" || text == "-l") && has_next) {
      const bool number = argv[i + 1].text.find_first_not_of("0123456789") == std::string::npos;
      i += number ? 1 : 0;
    } else if (split_assignment(text)) {
      given.push_back(&argv[i]);
    } else if (!text.starts_with('-')) {
      goals.push_back(text);
    }
  }
  const tree::TextFile* file = nullptr;
  for (const std::string_view candidate : {"GNUmakefile", "makefile", "Makefile"}) {
    const auto path =
        path_in_tree(shell.state().cwd, name.empty() ? candidate : std::string_view(name));
    if (file != nullptr || !path || !shell.tree().is_file(*path)) continue;
    const auto found = shell.tree().read(*path);
    if (found) file = *found;
  }
  if (file == nullptr || !shell.charge(10 + file->lines() / 4)) {
    shell.note_here("no readable Makefile");
    return true;
  }
  shell.made().wrappers.push_back(file->path);
  for (const auto& [variable, word] : env) {
    shell.state().variables[variable].items = {to_text(word)};
    shell.state().variables[variable].exported = true;
  }
  Makefile makefile(shell, *file);
  for (const Word* word : given) {
    const auto assignment = split_assignment(word->text);
    makefile.set(assignment->name, {std::string(assignment->value), word->place, true});
  }
  makefile.read();
  if (goals.empty()) goals.emplace_back();
  for (const auto& goal : goals) makefile.make(goal);
  return true;
}

}  // namespace schedmate::command
