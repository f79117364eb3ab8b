// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/paths.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

bool is_declaration(std::string_view word) {
  constexpr auto names =
      std::to_array<std::string_view>({"export", "local", "declare", "typeset", "readonly"});
  return std::ranges::find(names, word) != names.end();
}

/// ARGS="$ARGS --more": a list of words that grows, and begins with none.
bool adds_words(const AssignmentWord& word) {
  auto value = word.value;
  if (value.starts_with('"')) value.remove_prefix(1);
  if (word.index || !value.starts_with('$')) return false;
  value.remove_prefix(1);
  const bool braces = value.starts_with('{');
  if (braces) value.remove_prefix(1);
  if (!value.starts_with(word.name)) return false;
  value.remove_prefix(word.name.size());
  return value.starts_with(braces ? "} " : " ");
}

bool is_output(const Redirect& redirect) {
  return redirect.mark.contains('>') && redirect.mark != "<>" &&
         (redirect.descriptor < 0 || redirect.descriptor == 1);
}

}  // namespace

void Shell::assign(const AssignmentWord& word, const PlacePtr& use) {
  const std::string name(word.name);
  const bool list = word.value.starts_with('(') && word.value.ends_with(')') && !word.index;
  if (!list) {
    if (adds_words(word) && !state_.variables.contains(name)) state_.variables[name].items = {{}};
    Text value = single(word.value, use);
    auto& variable = state_.variables[name];
    if (word.index) {
      const auto key = plain(single(*word.index, use));
      variable.array = true;
      if (const auto at = key ? item_index(variable, *key) : std::nullopt) {
        if (!word.append) variable.items[*at].clear();
        append(variable.items[*at], value);
        return;
      }
      if (variable.associative) variable.keys.push_back(key.value_or(""));
      variable.items.push_back(std::move(value));
      return;
    }
    if (variable.items.empty()) variable.items.emplace_back();
    if (!word.append) variable.items = {{}};
    append(variable.items.front(), value);
    // `x+=...` onto nothing known keeps what may stand there before.
    return;
  }
  const auto inside = word.value.substr(1, word.value.size() - 2);
  Variable made;
  const auto before = state_.variables.find(name);
  if (before != state_.variables.end()) {
    made.exported = before->second.exported;
    made.associative = before->second.associative;
    if (word.append) made = before->second;
  }
  made.array = true;
  for (const auto& range : words_in(inside)) {
    auto raw = inside.substr(range.begin, range.end - range.begin);
    const auto own = place_of_part(raw);
    const PlacePtr& here = own ? own : use;
    const auto close = raw.starts_with('[') ? raw.find("]=") : std::string_view::npos;
    if (close != std::string_view::npos) {
      made.keys.push_back(written(single(raw.substr(1, close - 1), here)));
      made.items.push_back(single(raw.substr(close + 2), here));
      continue;
    }
    auto fields = expander().fields(raw, here);
    std::ranges::move(fields, std::back_inserter(made.items));
  }
  state_.variables[name] = std::move(made);
}

/// `x=$x$x` over and over: what is copied counts.
void Shell::charge_value(std::string_view name) {
  constexpr std::size_t bytes_a_step = 1024;
  constexpr std::size_t pieces_a_step = 8;
  const auto made = state_.variables.find(name);
  if (made == state_.variables.end() || made->second.items.empty()) return;
  const Text& value = made->second.items.back();
  charge(static_cast<std::int64_t>(written(value).size() / bytes_a_step +
                                   value.size() / pieces_a_step));
}

/// Line by line, so that each part keeps its own place; whole where a command's output stands in
/// it, which may go over several lines.
Text Shell::here_text(const Redirect& redirect) {
  const auto& here = script_->syntax.here[static_cast<std::size_t>(redirect.here)];
  const auto body = text(here.body);
  const bool whole = body.contains("$(") || body.contains('`');
  Text made;
  for (std::size_t at = 0; at < body.size();) {
    const auto end = whole ? body.size() : std::min(body.find('\n', at), body.size() - 1) + 1;
    auto line = body.substr(at, end - at);
    const auto where = place({here.body.begin + at, here.body.begin + end});
    at = end;
    if (here.indented) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    append(made, here.expands ? expander().here_document(line, where)
                              : literal(std::string(line), where));
  }
  return made;
}

void Shell::finish_output(const Redirect& redirect, const Text& text, const PlacePtr& where) {
  const bool has_output = std::ranges::any_of(text, [](const Piece& p) { return !p.text.empty(); });
  if (!has_output) return;
  const auto target = plain(single(this->text(redirect.target), where));
  const auto path = target ? path_in_tree(state_.cwd, *target) : std::nullopt;
  if (!path || target->starts_with("/dev/")) return;
  write_file(*path, {written(text), place_of(text), known(text)}, redirect.mark.contains(">>"));
}

void Shell::write_file(std::string_view path, WrittenFile file, bool append) {
  if (silent_ > 0 || !charge(static_cast<std::int64_t>(file.text.size() / 256))) return;
  if (!state_.certain) return note_here(fmt::format("'{}' may be written before the start", path));
  if (!file.known) note_here(fmt::format("parts of the written file '{}' are not known", path));
  if (append) {
    const auto before =
        tree_.is_file(path) ? tree_.read(path) : Result<const tree::TextFile*>(nullptr);
    if (before && *before != nullptr) file.text = (*before)->text + file.text;
    if (file.text.size() > most_text_bytes) return note_here("a written file grows too large");
  }
  tree_.put(path, file.text);
  made_.written[std::string(path)] = std::move(file);
}

std::optional<Text> Shell::content_of(std::string_view path, const PlacePtr& use) {
  const auto in_tree = path_in_tree(state_.cwd, path);
  if (!in_tree || !tree_.is_file(*in_tree)) return std::nullopt;
  const auto file = tree_.read(*in_tree);
  if (!file || (*file)->text.size() > most_text_bytes) return std::nullopt;
  return literal((*file)->text, use);
}

void Shell::with_redirects(const Statement& statement, const std::function<void()>& work) {
  if (statement.redirects.empty()) return work();
  Text* const out = out_;
  const Text* const in = in_;
  Text input;
  Text printed;
  const Redirect* to = nullptr;
  for (const auto& redirect : statement.redirects) {
    if (redirect.here >= 0) {
      input = here_text(redirect);
      in_ = &input;
    } else if (redirect.mark == "<<<" || redirect.mark == "<") {
      const auto where = place(redirect.target);
      const auto raw = text(redirect.target);
      input = single(raw, where);
      const auto path = plain(input);
      if (redirect.mark == "<")
        input = path ? content_of(*path, where).value_or(unknown(std::string(raw), where)) : input;
      in_ = &input;
    } else if (is_output(redirect) && !text(redirect.target).starts_with('&')) {
      to = &redirect;
    }
  }
  const bool duplicates = to != nullptr && to->mark == ">&" && text(to->target).size() == 1;
  if (to != nullptr && !duplicates) out_ = &printed;
  work();
  out_ = out;
  in_ = in;
  if (to != nullptr && !duplicates) finish_output(*to, printed, place(to->target));
}

void Shell::run_simple(const Statement& statement) {
  std::size_t first = 0;
  std::vector<AssignmentWord> assignments;
  for (; first < statement.words.size(); ++first) {
    const auto found = split_assignment(text(statement.words[first]));
    if (!found) break;
    assignments.push_back(*found);
  }
  if (first == statement.words.size()) {
    state_.status = Truth::yes;
    for (std::size_t i = 0; i < first; ++i) {
      if (assignments[i].value.contains("$(")) state_.status = Truth::unknown;
      assign(assignments[i], place(statement.words[i]));
      charge_value(assignments[i].name);
    }
    if (first == 0 && in_ != nullptr && !statement.redirects.empty()) print(*in_);
    return;
  }
  Environment env;
  for (std::size_t i = 0; i < first; ++i) {
    const auto use = place(statement.words[i]);
    env[std::string(assignments[i].name)] = to_word(single(assignments[i].value, use), use);
  }
  run_command(statement, first, env);
}

void Shell::run_command(const Statement& statement, std::size_t first, const Environment& env) {
  const auto name = text(statement.words[first]);
  if (is_declaration(name)) {
    std::vector<std::string_view> raw;
    for (std::size_t i = first; i < statement.words.size(); ++i)
      raw.push_back(text(statement.words[i]));
    run_declaration(*this, raw, place(statement.words[first]));
    return;
  }
  Arguments argv;
  for (std::size_t i = first; i < statement.words.size(); ++i) {
    const auto use = place(statement.words[i]);
    for (auto& field : expander().fields(text(statement.words[i]), use))
      argv.push_back({std::move(field), use});
  }
  for (auto& argument : argv) argument.text = in_root(std::move(argument.text));
  if (argv.empty() || !charge(static_cast<std::int64_t>(argv.size() / 4))) return;
  const auto program = plain(argv.front().text);
  if (program && functions_.contains(*program)) {
    for (auto& [variable, word] : env) state_.variables[variable].items = {to_text(word)};
    return call_function(argv);
  }
  if (program && (run_builtin(*this, argv) || run_printer(*this, argv))) return;
  external(argv, env);
}

void Shell::call_function(const Arguments& argv) {
  const Function function = functions_.find(*plain(argv.front().text))->second;
  const auto positional = std::move(state_.positional);
  state_.positional.clear();
  for (std::size_t i = 1; i < argv.size(); ++i) state_.positional.push_back(argv[i].text);
  const Script* const script = script_;
  script_ = function.script;
  hidden_.emplace_back();
  run(*function.body);
  for (auto& [name, variable] : hidden_.back()) {
    if (variable) {
      state_.variables[name] = std::move(*variable);
    } else {
      state_.variables.erase(name);
    }
  }
  hidden_.pop_back();
  script_ = script;
  state_.positional = positional;
  if (state_.flow == Flow::leave_function) state_.flow = Flow::on;
}

}  // namespace schedmate::command
