// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Programs that start other programs: what stands before the command that they start.

#include <span>

#include "command/command.hpp"

namespace schedmate::command {

enum class Role : std::uint8_t {
  wrapper,     ///< changes nothing that matters here: nohup, timeout, conda run
  container,   ///< runs the command in an image
  tasks,       ///< starts the command several times: srun, mpirun
  trainer,     ///< starts a Python program: torchrun, accelerate launch, deepspeed
  submission,  ///< hands a script to the batch system: sbatch
  profiler,    ///< runs a Python program itself: coverage run
};

struct Program {
  std::string_view names;        ///< with blanks between them
  std::string_view subcommands;  ///< one of these has to follow; "" = none
  Role role = Role::wrapper;
  std::string_view valued = {};  ///< options that take the next word, without dashes
  int operands = 0;              ///< words before the command: an image, a duration
};

/// An option as given; `value` is empty when it has none.
struct Option {
  std::string name;  ///< without dashes, '_' as '-'
  std::optional<Word> value;
};

struct ProgramCall {
  const Program* program = nullptr;
  std::string name;             ///< "torchrun", "accelerate launch"
  std::size_t command = 0;      ///< index of the word that is started
  std::vector<Option> options;  ///< in order
  Environment env;              ///< env A=b, docker run -e A=b, mpirun -x A=b
  std::optional<Word> folder;   ///< docker run -w, conda run --cwd
  bool complete = true;         ///< false when some of the options are not known

  /// The last one with one of these names; nullptr when not given.
  [[nodiscard]] const Option* option(std::span<const std::string_view> names) const;
};

/// Reads the words from `at` on; nothing when it is no program of the table.
[[nodiscard]] std::optional<ProgramCall> read_program(std::span<const Word> argv, std::size_t at);
/// As above for `python -m MODULE`, by the name of the launcher that the module is.
[[nodiscard]] std::optional<ProgramCall> read_module(std::string_view module,
                                                     std::span<const Word> argv, std::size_t at);

/// Always true here. bench/reader_study.cpp brings a function of its own in place of this weak one,
/// to measure what the model of a program or shell built-in is good for.
[[nodiscard]] bool is_modelled(std::string_view name);

/// "/opt/conda/bin/python3.10" -> "python3.10".
[[nodiscard]] std::string_view program_name(const Word& word);
[[nodiscard]] bool is_python(std::string_view program);
[[nodiscard]] bool is_shell(std::string_view program);
/// Programs that never train: cd, mkdir, pip, ...
[[nodiscard]] bool is_housekeeping(std::string_view program);

}  // namespace schedmate::command
