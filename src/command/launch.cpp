// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "command/launch_parts.hpp"
#include "command/paths.hpp"

namespace schedmate::command {
namespace {

/// Modules that `python -m` runs and that never train.
bool is_housekeeping_module(std::string_view module) {
  constexpr auto names = std::to_array<std::string_view>({"pip",
                                                          "venv",
                                                          "http.server",
                                                          "ensurepip",
                                                          "build",
                                                          "json.tool",
                                                          "pytest",
                                                          "unittest",
                                                          "ipykernel",
                                                          "jupyter",
                                                          "tensorboard.main",
                                                          "nltk.downloader",
                                                          "spacy",
                                                          "virtualenv",
                                                          "torch.utils.collect_env",
                                                          "site",
                                                          "timeit",
                                                          "zipfile",
                                                          "compileall",
                                                          "pre_commit",
                                                          "torch_tb_profiler"});
  return std::ranges::find(names, module) != names.end();
}

class Reader {
 public:
  Reader(tree::Tree& tree, const Invocation& invocation, const CommandSource& source)
      : argv_(invocation.argv),
        source_(resolved(source, invocation.request)),
        context_{tree, source_, made_} {
    if (source.gpus == 0 && invocation.request) context_.gpus = invocation.request->find("gpus");
    made_.request = invocation.request;
    made_.env = invocation.env;
    made_.cwd = invocation.cwd;
    made_.certain = invocation.certain;
    made_.runs = invocation.runs;
  }

  std::optional<Launch> read() {
    while (at_ < argv_.size()) {
      if (const auto call = read_program(argv_, at_)) {
        if (call->program->role == Role::submission) return std::nullopt;
        enter(*call);
        if (done_) break;
        continue;
      }
      const auto name = program_name(argv_[at_]);
      if (is_python(name) || starts_python(argv_[at_])) {
        if (!python()) return std::nullopt;
        if (done_) break;
        continue;
      }
      if (!plain_program(name)) return std::nullopt;
      break;
    }
    if (!done_) return std::nullopt;
    count_visible_devices();
    return std::move(made_);
  }

 private:
  /// `$PYTHON train.py`: a program that is not known, with a script behind it.
  bool starts_python(const Word& word) const {
    return !word.known && at_ + 1 < argv_.size() && argv_[at_ + 1].text.ends_with(".py");
  }

  void enter(const ProgramCall& call) {
    for (const auto& [name, word] : call.env) made_.env[name] = word;
    const Word& word = argv_[at_];
    at_ = call.command;
    if (call.program->role == Role::wrapper || call.program->role == Role::container) {
      uv_module(call);
      return;
    }
    made_.launchers.push_back(call.name);
    made_.launcher_place = word.place;
    if (call.program->role == Role::tasks) return apply_tasks(call, context_);
    if (call.program->role == Role::trainer) apply_trainer(call, context_);
    trained(call);
  }

  /// `uv run -m package`, `uv run train.py`.
  void uv_module(const ProgramCall& call) {
    if (call.name != "uv") return;
    constexpr std::string_view names[] = {"m", "module"};
    if (call.option(names) != nullptr && at_ < argv_.size()) return run_module(argv_[at_].text);
    if (at_ < argv_.size() && argv_[at_].text.ends_with(".py")) run_script();
  }

  /// What a launcher of Python programs starts.
  void trained(const ProgramCall& call) {
    if (at_ >= argv_.size() && call.name != "dora run") {
      at_ = argv_.size();
      return;
    }
    constexpr std::string_view module_names[] = {"m", "module"};
    constexpr std::string_view plain_names[] = {"no-python"};
    if (call.name == "dora run") {
      --at_;  // its own last word stands where a script would
      return run_module(dora_module(call, context_));
    }
    if (call.option(plain_names) != nullptr) return;  // the next round reads the program
    if (call.option(module_names) != nullptr) {
      const auto& module = argv_[at_].text;
      if (const auto inner = read_module(module, argv_, at_ + 1)) return enter(*inner);
      return run_module(module);
    }
    if (is_python(program_name(argv_[at_]))) return;
    run_script();
  }

  void take_arguments() {
    made_.args.assign(argv_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, argv_.end());
    done_ = true;
  }

  void run_module(const std::string& module) {
    made_.python = true;
    made_.module = module;
    made_.program = module;
    made_.script = module_file(context_.tree, made_.cwd, module);
    take_arguments();
  }

  void run_script() {
    const Word& word = argv_[at_];
    made_.program = word.text;
    made_.script = script_file(context_.tree, made_.cwd, word);
    made_.python = true;
    if (made_.script.empty() && !word.text.ends_with(".py")) console_script(word.text);
    take_arguments();
  }

  /// False when what Python runs is no candidate.
  bool python() {
    ++at_;
    while (at_ < argv_.size() && argv_[at_].text.starts_with('-')) {
      const auto& option = argv_[at_].text;
      if (option == "-m" && at_ + 1 < argv_.size()) return python_module();
      if (option == "-" || (option.starts_with("-c") && !option.starts_with("--"))) return false;
      at_ += option == "-W" || option == "-X" ? 2 : 1;
    }
    const bool flags_unknown = at_ + 1 < argv_.size() && !argv_[at_].known &&
                               !argv_[at_].text.ends_with(".py") &&
                               argv_[at_ + 1].text.ends_with(".py");
    if (flags_unknown) ++at_;
    if (at_ >= argv_.size()) return false;
    if (base_name(argv_[at_].text) == "setup.py") return false;
    run_script();
    return true;
  }

  bool python_module() {
    const auto module = argv_[at_ + 1].text;
    if (is_housekeeping_module(module)) return false;
    if (const auto call = read_module(module, argv_, at_ + 2)) {
      ++at_;
      enter(*call);
      return true;
    }
    ++at_;
    run_module(module);
    return true;
  }

  bool console_script(std::string_view name) {
    if (!is_modelled("console script")) return false;
    const auto entry = command::console_script(context_.tree, name);
    if (!entry) {
      made_.script = installed_script(context_.tree, name);
      made_.python = !made_.script.empty();
      return made_.python;
    }
    made_.script = module_file(context_.tree, made_.cwd, entry->module);
    if (made_.script.empty()) return false;
    made_.module = entry->module;
    made_.function = entry->function;
    made_.python = true;
    return true;
  }

  /// `$LAUNCHER --some flags tools/train.py`: the script is known by its file.
  bool unknown_program() {
    const std::string as_written = argv_[at_].text;
    for (std::size_t i = at_ + 1; i < argv_.size(); ++i) {
      if (!argv_[i].text.ends_with(".py")) continue;
      if (script_file(context_.tree, made_.cwd, argv_[i]).empty()) continue;
      made_.launchers.push_back(as_written);
      at_ = i;
      run_script();
      return true;
    }
    context_.tree.degrade("the program '" + as_written + "' is not known");
    return false;
  }

  bool plain_program(std::string_view name) {
    const Word& word = argv_[at_];
    if (!word.known) return unknown_program();
    if (name.starts_with('-')) return false;  // a comment cut a continued line
    if (name.ends_with(".py")) {
      run_script();
      return true;
    }
    made_.program = word.text;
    const bool of_tree = console_script(name);
    if (!of_tree && (is_housekeeping(name) || is_shell(name) || name.empty())) return false;
    take_arguments();
    return true;
  }

  void count_visible_devices() {
    const auto visible = made_.env.find("CUDA_VISIBLE_DEVICES");
    if (visible == made_.env.end()) return;
    const Word& word = visible->second;
    const Value count = devices_per_node(context_);
    const bool known = word.known && count.place == word.place;
    made_.settings.set("visible_devices", known ? count : Value(Unknown{}, word.place));
  }

  std::span<const Word> argv_;
  CommandSource source_;
  Launch made_;
  LaunchContext context_;
  std::size_t at_ = 0;
  bool done_ = false;
};

}  // namespace

bool same_program(const Launch& a, const Launch& b) {
  return a.script == b.script && a.module == b.module && a.program == b.program;
}

std::optional<Launch> read_launch(tree::Tree& tree, const Invocation& invocation,
                                  const CommandSource& source) {
  return Reader(tree, invocation, source).read();
}

}  // namespace schedmate::command
