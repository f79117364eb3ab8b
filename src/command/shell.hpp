// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Follows shell statements without starting anything: keeps variables, folder and positional
/// parameters, decides what can be decided, and collects the programs that would be started.

#include <deque>

#include "command/expand.hpp"

namespace schedmate::command {

/// A word after expansion, with the place where it is used.
struct Argument {
  Text text;
  PlacePtr use;
};
using Arguments = std::vector<Argument>;

[[nodiscard]] std::vector<Word> to_words(std::span<const Argument> arguments);

class Shell {
 public:
  Shell(tree::Tree& tree, const CommandSource& source, Commands& made);

  State& state() { return state_; }
  tree::Tree& tree() { return tree_; }
  const CommandSource& source() const { return source_; }
  Commands& made() { return made_; }

  void run_text(Script script);
  /// `bash PATH args`: own variables, own folder.
  void run_file(const std::string& path, std::span<const Word> args, const Environment& env);
  void run_string(const Word& text, std::span<const Word> args, const Environment& env);
  void run_input();  ///< what standard input holds, as a shell would
  void source_file(const std::string& path, std::span<const Argument> args);
  /// Everything that `work` changes but what it found is undone.
  template <class Work>
  void in_subshell(Work work) {
    const State before = state_;
    charge_copy();
    work();
    const Truth status = state_.status;
    state_ = before;
    state_.status = status;
  }

  Text single(std::string_view raw, const PlacePtr& use) { return expander().single(raw, use); }
  Expander expander(bool unset_is_empty = false);
  Text output_of(std::string_view script, const PlacePtr& use);
  void assign(const AssignmentWord& word, const PlacePtr& use);
  void write_file(std::string_view path, WrittenFile file, bool append);
  std::optional<Text> content_of(std::string_view path, const PlacePtr& use);
  void emit(std::vector<Word> argv, const Environment& env);
  void external(const Arguments& argv, const Environment& env);
  void note(std::string text);
  void note_here(std::string_view text);  ///< with the current statement's place
  bool charge(std::int64_t steps);
  void change_folder(const Text& to);
  /// With other names of the root (Tree::add_root) as tree_root.
  Text in_root(Text text) const;
  void settle_folder(std::span<const Argument> argv);
  void add_edit(const std::string& path) { edits_.push_back(path); }
  /// A folder of the tree is copied to a place that the tree has not.
  void add_copy(std::string from, std::string to) { copies_[std::move(to)] = std::move(from); }

  void print(const Text& text);  ///< to where standard output goes
  [[nodiscard]] bool is_captured() const { return out_ != nullptr; }
  [[nodiscard]] const Text* input() const { return in_; }

  /// A request, among those that the command makes; what could not be read of it is noted.
  RequestPtr keep_request(const Request& request);

  /// Saves what `local NAME` hides until the function ends.
  void hide_local(const std::string& name);

 private:
  void run_block(const std::vector<Statement>& block);
  void run(const Statement& statement);
  void run_kind(const Statement& statement);
  void run_chain(const Statement& statement);
  void run_pipeline(const Statement& statement);
  void run_branch(const Statement& statement, std::size_t from);
  void run_either(Truth condition, const std::function<void()>& yes,
                  const std::function<void()>& no);
  void run_for(const Statement& statement);
  void run_counted(const Statement& statement);
  void run_while(const Statement& statement);
  void run_choice(const Statement& statement);
  void run_choice_items(const Statement& statement, const Text& subject, std::size_t from);
  void run_simple(const Statement& statement);
  void run_command(const Statement& statement, std::size_t first, const Environment& env);
  void charge_value(std::string_view name);
  void call_function(const Arguments& argv);
  bool round_ended();
  void once_undecided(const Statement& body, std::int64_t runs);
  void forget_assigned(const Statement& statement);
  void with_redirects(const Statement& statement, const std::function<void()>& work);
  void finish_output(const Redirect& redirect, const Text& text, const PlacePtr& where);
  Text here_text(const Redirect& redirect);
  void enter_child(std::span<const Word> args, const Environment& env);
  void run_here_script(const Text& body, const PlacePtr& where);
  bool run_nested(std::span<const Word> argv, Environment env);
  void run_in(std::span<const Word> argv, const Environment& env);
  bool is_unread_submission(std::span<const Word> argv);
  PlacePtr place(Range range) const { return script_->place(range); }
  /// Where a part of the running script's text stands; nullptr for any other text.
  PlacePtr place_of_part(std::string_view part) const;
  std::string_view text(Range range) const { return script_->at(range); }
  void settle_copies(Invocation& made) const;
  void charge_copy() { charge(1 + static_cast<std::int64_t>(state_.variables.size()) / 8); }

  struct Function {
    const Script* script = nullptr;
    const Statement* body = nullptr;
  };

  tree::Tree& tree_;
  const CommandSource& source_;
  Commands& made_;
  State state_;
  std::deque<Script> scripts_;  ///< functions point into them
  const Script* script_ = nullptr;
  const Statement* statement_ = nullptr;
  std::map<std::string, Function, std::less<>> functions_;
  std::vector<std::map<std::string, std::optional<Variable>>> hidden_;
  std::int64_t steps_left_;
  int depth_ = 0;
  int unrolled_ = 1;
  int silent_ = 0;  ///< inside $(...): what starts there is not the job
  Text* out_ = nullptr;
  const Text* in_ = nullptr;
  std::vector<std::string> edits_;
  std::map<std::string, std::string> copies_;  ///< folder that is made -> what it is a copy of
  std::map<PlacePtr, Text> origins_;  ///< of words that are made of several pieces, by their place
};

constexpr int deepest_block = 60;  ///< calls, substitutions, loops and blocks in each other

[[nodiscard]] constexpr Truth inverse(Truth truth) {
  return truth == Truth::unknown ? truth : truth == Truth::yes ? Truth::no : Truth::yes;
}
/// The word at that place as written; "" behind the last.
[[nodiscard]] std::string word_at(const Arguments& argv, std::size_t i);
/// Output that is not known; $(...) shows it as written.
[[nodiscard]] Text not_known(const Arguments& argv);

/// Builtins and programs whose effect is known. False when `argv` is none of them.
bool run_builtin(Shell& shell, const Arguments& argv);
/// Programs that print what can be said without running them: echo, seq, dirname, nvidia-smi, ...
bool run_printer(Shell& shell, const Arguments& argv);
/// [ ... ] and [[ ... ]].
Truth run_test(Shell& shell, const Arguments& argv);
Truth run_double_test(Shell& shell, std::string_view inside, const PlacePtr& use);
/// export, local, declare, readonly, typeset: their words as written.
bool run_declaration(Shell& shell, std::span<const std::string_view> raw, const PlacePtr& use);
/// The shell file of the tree that `word` names; with `any_text` also one that does not look so.
std::optional<std::string> shell_file(Shell& shell, const Word& word, bool any_text);
/// What `srun` or `salloc` asks for where no submission surrounds it.
RequestPtr read_step_request(Shell& shell, std::span<const Word> argv, const Environment& env);
/// sbatch and make.
bool run_submission(Shell& shell, std::span<const Word> argv, const Environment& env);
bool run_make(Shell& shell, std::span<const Word> argv, const Environment& env);

}  // namespace schedmate::command
