// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "command/paths.hpp"
#include "command/programs.hpp"
#include "command/shell.hpp"

namespace schedmate::command {

std::optional<std::string> shell_file(Shell& shell, const Word& word, bool any_text) {
  tree::Tree& tree = shell.tree();
  auto path = word.known ? path_in_tree(shell.state().cwd, word.text) : std::nullopt;
  if (!path || !tree.is_file(*path)) {
    const bool anywhere = !word.known || word.text.starts_with('/');
    path = anywhere && word.text.contains('/') ? end_in_tree(tree, word.text) : std::nullopt;
    if (!path || !tree.is_file(*path)) return std::nullopt;
    if (!word.known)
      shell.note_here(fmt::format("'{}' is assumed to be '{}' of the tree", word.text, *path));
  }
  if (any_text || path->ends_with(".sh") || path->ends_with(".bash")) return path;
  if (path->ends_with(".py") || !word.text.contains('/')) return std::nullopt;
  const auto file = tree.read(*path);
  if (!file) return std::nullopt;
  const auto first = (*file)->line(1);
  return first.starts_with("#!") && first.contains("sh") ? path : std::nullopt;
}

void Shell::external(const Arguments& argv, const Environment& env) {
  settle_folder(argv);
  auto words = to_words(argv);
  for (std::size_t i = 0; i < argv.size(); ++i) {
    // Words with blanks may be shell text (bash -c "$COMMAND"): their parts keep their places.
    if (argv[i].text.size() > 1 && words[i].text.contains(' '))
      origins_[words[i].place] = argv[i].text;
  }
  if (run_nested(words, env)) return;
  emit(std::move(words), env);
}

void Shell::run_here_script(const Text& body, const PlacePtr& where) {
  Script script = script_of(body, state_.script);
  const bool of_file = where && where->line > 0 && script_ != nullptr && script_->file != nullptr;
  if (of_file) {
    script.file = script_->file;
    script.first_line = where->line;
  }
  if (!known(body)) note_here("parts of a here-document that is run are not known");
  in_subshell([&] { run_text(std::move(script)); });
}

void Shell::run_input() {
  if (in_ != nullptr && !in_->empty()) run_here_script(*in_, place_of(*in_));
}

/// `bash [options] [-c TEXT | FILE] args`
void Shell::run_in(std::span<const Word> argv, const Environment& env) {
  std::size_t at = 1;
  bool is_text = false;
  for (; at < argv.size() && argv[at].text.starts_with('-'); ++at) {
    const std::string_view option = argv[at].text;
    is_text = is_text || (!option.starts_with("--") && option.ends_with('c'));
    if (option == "-o" || option == "-O" || option == "--rcfile") ++at;
    if (option == "--") {
      ++at;
      break;
    }
  }
  if (at >= argv.size()) return run_input();
  if (is_text) return run_string(argv[at], argv.subspan(at + 1), env);
  const auto path = shell_file(*this, argv[at], true);
  if (path) return run_file(*path, argv.subspan(at + 1), env);
  note_here(fmt::format("'{}' is not in the tree", argv[at].text));
  emit({argv.begin(), argv.end()}, env);
}

bool Shell::run_nested(std::span<const Word> argv, Environment env) {
  std::vector<Word> tasks;
  std::optional<Word> folder;
  RequestPtr request = state_.request;
  std::size_t at = 0;
  while (at < argv.size()) {
    const auto call = read_program(argv, at);
    if (!call || call->command >= argv.size()) break;
    const auto role = call->program->role;
    if (role == Role::trainer || role == Role::profiler || role == Role::submission) break;
    if (role == Role::tasks) {
      std::copy(argv.begin() + static_cast<std::ptrdiff_t>(at),
                argv.begin() + static_cast<std::ptrdiff_t>(call->command),
                std::back_inserter(tasks));
    }
    if (!request && (call->name == "srun" || call->name == "salloc"))
      request = read_step_request(*this, argv.subspan(at), env);
    for (const auto& [name, word] : call->env) env[name] = word;
    if (call->folder) folder = call->folder;
    at = call->command;
  }
  if (at >= argv.size()) return false;
  const auto inner = argv.subspan(at);
  const auto program = program_name(inner.front());
  const auto file = is_shell(program) ? std::nullopt : shell_file(*this, inner.front(), false);
  const bool shell_text = is_shell(program);
  const bool submits = (program == "sbatch" || program == "make") && is_modelled(program);
  if (!shell_text && !file && !submits) return false;
  in_subshell([&] {
    state_.request = request;
    std::ranges::copy(tasks, std::back_inserter(state_.prefix));
    if (folder) change_folder(to_text(*folder));
    if (shell_text) {
      run_in(inner, env);
    } else if (file) {
      run_file(*file, inner.subspan(1), env);
    } else if (!run_submission(*this, inner, env)) {
      run_make(*this, inner, env);
    }
  });
  return true;
}

}  // namespace schedmate::command
