// SPDX-License-Identifier: Apache-2.0
#include "command/shell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command/paths.hpp"
#include "command/programs.hpp"

namespace schedmate::command {
namespace {

constexpr std::int64_t most_steps = 100'000;
constexpr std::size_t most_invocations = 500;
constexpr std::size_t most_notes = 60;
constexpr std::size_t most_script_bytes = 1 << 18;

/// Programs whose answer, not success, is what a script asks for.
bool is_question(std::string_view program) {
  constexpr std::string_view names[] = {"grep", "egrep", "which", "type",   "command",
                                        "hash", "pgrep", "diff",  "cmp",    "ping",
                                        "nc",   "curl",  "wget",  "squeue", "nvidia-smi"};
  return std::ranges::find(names, program) != std::end(names);
}

/// The last `size` bytes: of "--wrap=COMMAND" the command.
Text last_part(Text text, std::size_t size) {
  std::size_t extra = written(text).size() - size;
  for (auto& piece : text) {
    const std::size_t cut = std::min(extra, piece.text.size());
    piece.text.erase(0, cut);
    extra -= cut;
  }
  return text;
}

std::string without_carriage_returns(std::string text) {
  std::erase(text, '\r');
  return text;
}

}  // namespace

std::vector<Word> to_words(std::span<const Argument> arguments) {
  std::vector<Word> words;
  words.reserve(arguments.size());
  for (const auto& argument : arguments) words.push_back(to_word(argument.text, argument.use));
  return words;
}

Shell::Shell(tree::Tree& tree, const CommandSource& source, Commands& made)
    : tree_(tree), source_(source), made_(made), steps_left_(most_steps) {
  const auto from_request = [&](const char* name, const char* key, int value) {
    auto place = std::make_shared<Place>();
    place->file = "<request>";
    place->text = fmt::format("{}={}", key, value);
    place->source = FactSource::environment;
    state_.variables[name].items = {literal(std::to_string(value), std::move(place))};
  };
  const auto [command, workdir, gpus, nodes] = resolved(source, nullptr);
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) {
    from_request(name, "nodes", nodes);
  }
  for (const char* name : {"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"}) {
    from_request(name, "gpus per node", gpus / nodes);
  }
}

bool Shell::charge(std::int64_t steps) {
  if (steps_left_ < 0) return false;
  steps_left_ -= steps;
  if (steps_left_ >= 0) return true;
  note("the command takes too many steps; the rest of it was not followed");
  state_.flow = Flow::leave;
  return false;
}

void Shell::note(std::string text) {
  const bool fresh = std::ranges::find(made_.degraded, text) == made_.degraded.end();
  if (fresh && made_.degraded.size() < most_notes) made_.degraded.push_back(std::move(text));
}

void Shell::note_here(std::string_view text) {
  const auto where = script_ != nullptr && statement_ != nullptr
                         ? script_->describe(statement_->range.begin)
                         : std::string("<command>");
  note(fmt::format("{}: {}", where, text));
}

Expander Shell::expander(bool unset_is_empty) {
  return Expander({.state = state_,
                   .tree = tree_,
                   .output_of = [this](std::string_view script,
                                       const PlacePtr& use) { return output_of(script, use); },
                   .place_of = [this](std::string_view part) { return place_of_part(part); },
                   .unset_is_empty = unset_is_empty});
}

void Shell::print(const Text& text) {
  if (out_ != nullptr) append(*out_, text);
}

PlacePtr Shell::place_of_part(std::string_view part) const {
  const std::string_view all = script_ != nullptr ? std::string_view(script_->text) : "";
  const std::less_equal<const char*> before;
  const bool within = !part.empty() && before(all.data(), part.data()) &&
                      before(part.data() + part.size(), all.data() + all.size());
  if (!within) return nullptr;
  const auto begin = static_cast<std::size_t>(part.data() - all.data());
  return script_->place({begin, begin + part.size()});
}

Text Shell::output_of(std::string_view script, const PlacePtr& use) {
  const std::string as_written = fmt::format("$({})", script);
  if (depth_ > deepest_block || !charge(1)) return unknown(as_written, use);
  Text printed;
  Text* const before = out_;
  const Text* const input = in_;
  out_ = &printed;
  in_ = nullptr;
  ++silent_;
  ++depth_;
  in_subshell([&] {
    Script inner;
    inner.path = state_.script;
    inner.text = script;
    inner.within = use;
    run_text(std::move(inner));
  });
  --depth_;
  --silent_;
  out_ = before;
  in_ = input;
  const bool not_followed =
      std::ranges::any_of(printed, [](const Piece& p) { return !p.known && p.text.empty(); });
  return not_followed ? unknown(as_written, use) : without_line_end(std::move(printed));
}

void Shell::run_text(Script script) {
  if (!charge(1 + static_cast<std::int64_t>(script.text.size() / 256))) return;
  if (script.text.size() > most_script_bytes) {
    note(fmt::format("{}: shell text of {} bytes is too long to follow", script.describe(0),
                     script.text.size()));
    return;
  }
  if (script.text.contains('\r')) {
    script.text = without_carriage_returns(std::move(script.text));
    script.pieces.clear();  // their offsets do not hold any more
  }
  scripts_.push_back(std::move(script));
  Script& kept = scripts_.back();
  kept.syntax = parse_shell(kept.text);
  for (const auto& found : kept.syntax.notes)
    note(fmt::format("{}: {}", kept.describe(found.at), found.text));
  const Script* const before = script_;
  const Statement* const statement = statement_;
  script_ = &kept;
  run_block(kept.syntax.body);
  script_ = before;
  statement_ = statement;
}

/// A shell of its own sees exported variables only.
void Shell::enter_child(std::span<const Word> args, const Environment& env) {
  std::erase_if(state_.variables, [](const auto& entry) {
    return !entry.second.exported && !entry.first.starts_with("SLURM_");
  });
  for (const auto& [name, word] : env) {
    state_.variables[name].items = {to_text(word)};
    state_.variables[name].exported = true;
  }
  state_.positional.clear();
  for (const auto& word : args) state_.positional.push_back(to_text(word));
  state_.positional_known = true;
}

void Shell::run_file(const std::string& path, std::span<const Word> args, const Environment& env) {
  auto file = tree_.read(path);
  if (!file) return note_here(file.error().message);
  if (std::ranges::find(made_.wrappers, path) == made_.wrappers.end())
    made_.wrappers.push_back(path);
  in_subshell([&] {
    enter_child(args, env);
    state_.script = path;
    Script script;
    script.path = path;
    script.text = (*file)->text;
    script.file = *file;
    const auto written = made_.written.find(path);
    if (written != made_.written.end()) {
      script.file = nullptr;
      script.within = written->second.place;
    }
    run_text(std::move(script));
  });
}

void Shell::run_string(const Word& text, std::span<const Word> args, const Environment& env) {
  if (!text.known) note_here("part of the shell text is not known: " + text.text.substr(0, 80));
  in_subshell([&] {
    enter_child(args.empty() ? args : args.subspan(1), env);  // the first one is $0
    const auto found = origins_.find(text.place);
    const bool whole = found != origins_.end() && written(found->second).ends_with(text.text);
    run_text(script_of(whole ? last_part(found->second, text.text.size()) : to_text(text),
                       state_.script));
  });
}

void Shell::source_file(const std::string& path, std::span<const Argument> args) {
  auto file = tree_.read(path);
  if (!file) return note_here(file.error().message);
  if (std::ranges::find(made_.wrappers, path) == made_.wrappers.end())
    made_.wrappers.push_back(path);
  const auto positional = state_.positional;
  const auto outer = state_.script;
  if (!args.empty()) state_.positional.clear();
  for (const auto& argument : args) state_.positional.push_back(argument.text);
  state_.script = path;
  Script script;
  script.path = path;
  script.text = (*file)->text;
  script.file = *file;
  run_text(std::move(script));
  state_.script = outer;
  if (!args.empty()) state_.positional = positional;
  if (state_.flow == Flow::leave_function) state_.flow = Flow::on;
}

/// Programs that are started from a copy of the tree's folders are read where they stand.
void Shell::settle_copies(Invocation& made) const {
  const auto original = [&](const std::string& path) -> std::optional<std::string> {
    for (const auto& [to, from] : copies_) {
      if (path != to && !path.starts_with(to + "/")) continue;
      std::string there = from + path.substr(to.size());
      if (tree_.is_file(there) || tree_.is_folder(there)) return there;
    }
    return std::nullopt;
  };
  const std::string before = made.cwd;
  if (!tree_.is_folder(made.cwd)) made.cwd = original(made.cwd).value_or(made.cwd);
  for (auto& word : made.argv) {
    const auto path = path_in_tree(before, word.text);
    const bool there = !path || tree_.is_file(*path) || tree_.is_folder(*path);
    if (const auto found = there ? std::nullopt : original(*path))
      word.text = without_root(fmt::format("{}/{}", tree_root, *found), made.cwd);
  }
}

void Shell::emit(std::vector<Word> argv, const Environment& env) {
  const auto program = argv.empty() ? std::string() : std::string(program_name(argv.front()));
  const bool asks = is_question(program) || (argv.size() > 1 && argv[1].text == "-c");
  state_.status = asks ? Truth::unknown : Truth::yes;
  print(unknown("", nullptr));
  if (silent_ > 0 || is_unread_submission(argv)) return;
  if (made_.invocations.size() >= most_invocations)
    return note("the command starts too many programs; the rest is left out");
  Invocation made;
  made.cwd = state_.cwd;
  made.argv = state_.prefix;
  std::ranges::move(argv, std::back_inserter(made.argv));
  for (const auto& [name, variable] : state_.variables) {
    if (variable.exported && !variable.array && !variable.items.empty())
      made.env[name] = to_word(variable.items.front(), nullptr);
  }
  for (const auto& [name, word] : env) made.env[name] = word;
  for (const auto& word : made.argv) {
    const bool script = word.known && word.text.starts_with('/') &&
                        (word.text.ends_with(".py") || word.text.ends_with(".sh"));
    if (script && !path_in_tree(state_.cwd, word.text)) (void)end_in_tree(tree_, word.text);
  }
  const auto settle = [&](Word& word) {
    word.text = without_root(tree_.with_root(word.text, tree_root), state_.cwd);
  };
  for (auto& word : made.argv) settle(word);
  for (auto& [name, word] : made.env) settle(word);
  if (!copies_.empty()) settle_copies(made);
  made.certain = state_.certain;
  made.runs = state_.runs;
  made.edits = edits_;
  made.request = state_.request;
  for (std::size_t at = 0; !made.request && at < made.argv.size();) {
    const auto call = read_program(made.argv, at);
    if (!call) break;
    if (call->name == "srun" || call->name == "salloc")
      made.request = read_step_request(*this, std::span(made.argv).subspan(at), made.env);
    at = call->command;
  }
  made_.invocations.push_back(std::move(made));
}

Text Shell::in_root(Text text) const {
  for (Piece& piece : text) {
    if (piece.known) piece.text = tree_.with_root(piece.text, tree_root);
  }
  return text;
}

void Shell::change_folder(const Text& to) {
  const auto text = written(in_root(to));
  const auto before = state_.cwd;
  const auto path = known(to) ? path_in_tree(state_.cwd, text) : std::nullopt;
  const auto end = path && tree_.is_folder(*path) ? path : end_in_tree(tree_, text);
  if (end && tree_.is_folder(*end)) {
    state_.cwd = *end;
    if (end != path) note_here(fmt::format("'cd {}': '{}' of the tree is used", text, *end));
  } else if (path) {
    state_.cwd = *path;  // made while the job runs, perhaps
  } else {
    state_.cwd = tree_.locate(".", source_.workdir).value_or(".");
    note_here(fmt::format("'cd {}' leads out of the tree or to an unknown place; '{}' is used",
                          text, state_.cwd));
  }
  state_.variables["OLDPWD"].items = {
      literal(fmt::format("{}/{}", tree_root, before), place_of(to))};
}

/// `cd repository && python train.py`, where the repository is the root itself.
void Shell::settle_folder(std::span<const Argument> argv) {
  if (tree_.is_folder(state_.cwd)) return;
  const auto start = tree_.locate(".", source_.workdir).value_or(".");
  for (const auto& argument : argv) {
    const auto text = plain(argument.text);
    if (!text || !(text->ends_with(".py") || text->ends_with(".sh"))) continue;
    const auto here = path_in_tree(state_.cwd, *text);
    const auto there = path_in_tree(start, *text);
    if ((here && tree_.is_file(*here)) || !there || !tree_.is_file(*there)) continue;
    note_here(fmt::format("'{}' is not a folder of the tree; '{}' is used", state_.cwd, start));
    state_.cwd = start;
    return;
  }
}

void Shell::hide_local(const std::string& name) {
  if (hidden_.empty()) return;
  const auto found = state_.variables.find(name);
  hidden_.back().emplace(name, found == state_.variables.end()
                                   ? std::nullopt
                                   : std::optional<Variable>(found->second));
}

std::string word_at(const Arguments& argv, std::size_t i) {
  return i < argv.size() ? written(argv[i].text) : std::string();
}

Text not_known(const Arguments& argv) { return unknown("", argv.front().use); }

}  // namespace schedmate::command
