// SPDX-License-Identifier: Apache-2.0
#pragma once

/// From the submitted command line to the program that trains.
///
/// `read_command` splits the command as a shell would, expands wrappers (assignments, ${x:-y},
/// arrays, here-documents, `if` and `case` on known values, loops over known lists, functions,
/// `source`, sbatch scripts with their #SBATCH lines, sbatch --wrap, bash -c, env, ssh-free
/// launchers) and stops at anything else, saying so. What a Slurm submission asks for is kept.
/// `read_launch` then takes launchers off one invocation until the training program is left.
/// Nothing is ever executed.

#include <map>
#include <optional>

#include "code/value.hpp"
#include "tree/tree.hpp"

namespace schedmate::command {

using code::Dict;
using code::Place;
using code::PlacePtr;
using code::Unknown;
using code::Value;

/// One word after expansion. `known` is false when a part of it could not be expanded; `text` then
/// holds the rest with the unknown parts as written (`$DATA/imagenet`).
struct Word {
  std::string text;
  PlacePtr place;
  bool known = true;
};
using Environment = std::map<std::string, Word, std::less<>>;

/// One thing that a submission asks for: "gpus", "nodes", "gpu_type", or a name of Facts::extra.
struct Asked {
  std::string field;
  Value value;       ///< unknown: asked for, but how much is not known
  bool sure = true;  ///< false: follows from what Slurm does when nothing is said
};

/// What a submission asks of Slurm, over all components of a heterogeneous job.
struct Request {
  std::string by;  ///< sbatch, salloc, srun
  PlacePtr place;
  std::vector<Asked> asked;
  std::vector<std::string> notes;  ///< what could not be read of it

  /// Nullptr when it is not asked for.
  [[nodiscard]] const Asked* find(std::string_view field) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view field) const;
};
using RequestPtr = std::shared_ptr<const Request>;

/// A program that the command would start.
struct Invocation {
  std::vector<Word> argv;          ///< argv[0] is the program as typed
  Environment env;                 ///< set by the command or its wrappers, nothing inherited
  std::string cwd;                 ///< relative to the root
  bool certain = true;             ///< false inside a branch that could not be decided
  int runs = 1;                    ///< how often it runs (loops not unrolled, job arrays)
  std::vector<std::string> edits;  ///< files that earlier commands change (sed -i), relative
  RequestPtr request;              ///< of the submission that starts it; nullptr = none
};

/// A file that the command writes before the program starts (cat <<EOF > run.yaml, sed -i), as it
/// would read then. Readers look here before they look into the tree.
struct WrittenFile {
  std::string text;
  PlacePtr place;     ///< of the first line, where it was written as a here-document
  bool known = true;  ///< false when parts could not be expanded and stand as written
};

struct Commands {
  std::vector<Invocation> invocations;                      ///< in order
  std::map<std::string, WrittenFile, std::less<>> written;  ///< by path relative to the root
  std::vector<std::string> degraded;
  std::vector<std::string> wrappers;  ///< shell files that were read
  std::vector<RequestPtr> requests;   ///< of all submissions, in order
  std::vector<std::string> unread;    ///< submissions to schedulers that are not read: "bsub"
};

struct CommandSource {
  std::string command;
  std::string workdir = ".";
  int gpus = 0;   ///< over all nodes; 0 = as the submission asks, else 1
  int nodes = 0;  ///< likewise
};

/// With the counts that are not said taken from the request, or else 1.
[[nodiscard]] CommandSource resolved(CommandSource source, const RequestPtr& request);

/// Errors: invalid (empty or unreadable command).
[[nodiscard]] Result<Commands> read_command(tree::Tree& tree, const CommandSource& source);

/// What is started once all launchers are taken off.
struct Launch {
  std::vector<std::string> launchers;  ///< "srun", "torchrun", "accelerate launch", outermost first
  PlacePtr launcher_place;             ///< of the innermost
  Value processes_per_node;            ///< unknown when no launcher says
  Value nodes;
  std::string script;      ///< relative to the root; "" when the entry is not a file of the tree
  std::string function;    ///< of the script, where a console script of the tree names one
  std::string module;      ///< dotted, after -m; "" otherwise
  std::string program;     ///< last program as typed, such as "lightning" or "composer"
  std::vector<Word> args;  ///< of the script
  Environment env;
  std::string cwd;
  Dict settings;  ///< what launchers decide: accelerate's YAML and flags (mixed_precision,
                  ///< distributed_type, deepspeed_config_file, zero_stage, fsdp), deepspeed's, ...
  bool python = false;  ///< the program is a Python one
  bool certain = true;
  bool itself = false;  ///< started by the same program: one process of each device
  int runs = 1;
  RequestPtr request;  ///< of the submission that starts it; nullptr = none
};

/// Whether both start the same file or module.
[[nodiscard]] bool same_program(const Launch& a, const Launch& b);

/// Nothing when the invocation is no training candidate (cd, mkdir, pip, echo, rsync, ...).
[[nodiscard]] std::optional<Launch> read_launch(tree::Tree& tree, const Invocation& invocation,
                                                const CommandSource& source);

}  // namespace schedmate::command
