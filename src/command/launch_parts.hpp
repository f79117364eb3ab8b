// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of read_launch: counts of processes (processes.cpp), accelerate's configuration
/// (accelerate.cpp), what a module or console script means (entry_points.cpp).

#include "command/programs.hpp"

namespace schedmate::command {

struct LaunchContext {
  tree::Tree& tree;
  const CommandSource& source;
  Launch& made;
  const Asked* gpus = nullptr;  ///< of the submission, where that decides
};

/// GPUs of one node as the request says, and as CUDA_VISIBLE_DEVICES narrows them.
[[nodiscard]] int gpus_per_node(const CommandSource& source);
[[nodiscard]] Value devices_per_node(const LaunchContext& context);
/// A number, "gpu" or "auto"; unknown otherwise.
[[nodiscard]] Value count_from(const Word& word, const LaunchContext& context);

/// What srun, mpirun and horovodrun say about processes.
void apply_tasks(const ProgramCall& call, LaunchContext& context);
/// What torchrun, accelerate, deepspeed and the like say.
void apply_trainer(const ProgramCall& call, LaunchContext& context);
/// Adds the keys of accelerate's YAML or JSON below the flags; notes what cannot be read.
void read_accelerate_config(const Word& word, LaunchContext& context);

/// The file of "package.module", searched from `cwd`, src/ and the root; "" when not in the tree.
[[nodiscard]] std::string module_file(tree::Tree& tree, std::string_view cwd,
                                      std::string_view module);
/// The file that `path` means for Python: itself, or __main__.py of a folder; "" when none.
[[nodiscard]] std::string script_file(tree::Tree& tree, std::string_view cwd, const Word& word);

/// The module that `dora run` starts: train.py of the package that is named, or of the only folder
/// that has one.
[[nodiscard]] std::string dora_module(const ProgramCall& call, LaunchContext& context);

struct EntryPoint {
  std::string module;
  std::string function;
};
/// What setup.py, setup.cfg or pyproject.toml say about a console script.
[[nodiscard]] std::optional<EntryPoint> console_script(tree::Tree& tree, std::string_view name);
/// The file that setup's `scripts` installs under a name (setuptools: script-files); "" = none.
[[nodiscard]] std::string installed_script(tree::Tree& tree, std::string_view name);

}  // namespace schedmate::command
