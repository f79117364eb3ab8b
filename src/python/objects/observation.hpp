// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a Python program would do, as observe() sees it (python/interpreter/observe.hpp).

#include "command/command.hpp"
#include "config/config.hpp"
#include "python/objects/value_names.hpp"

namespace schedmate::python {

/// A name outside the tree, not called: `torch.bfloat16`, `torchvision.models.resnet50`.
struct Symbol : Object {
  std::string name;
};
/// The result of a call of something outside the tree. `call` is its index in Observation::calls.
struct Made : Object {
  std::string callee;
  std::size_t call = 0;
};
/// An object of a class of the tree.
struct Instance : Object {
  std::string type;                ///< class name
  std::vector<std::string> bases;  ///< dotted names outside the tree, such as torch.nn.Module
  std::string file;
  Dict fields;
  PlacePtr place;       ///< of the call that built it
  std::string builder;  ///< class in whose method that stands, "" = none
  bool certain = true;  ///< built on a path that is taken
};

struct Call {
  /// Dotted name resolved through imports and aliases: "torch.optim.AdamW". Methods of what an
  /// outside call made: "torch.optim.AdamW().step"; of unknown things: "?.step".
  std::string callee;
  List args;
  Dict named;  ///< keyword arguments, **kwargs spread where known
  PlacePtr place;
  std::string function;  ///< of the tree, that it stands in ("" = top level)
  std::string inside_class;
  bool certain = true;
  bool complete = true;  ///< false when *args or **kwargs held more than is known
  int loops = 0;         ///< loops around it
};

/// `for` over something that is not a short known list. `count` is len() where known.
struct Loop {
  std::string target;  ///< "epoch", "step, batch"
  Value iterable;
  std::string source_text;            ///< of the iterable: "range(start_epoch, args.epochs)"
  std::optional<double> first, last;  ///< of range(): [first, last)
  Value bound;                        ///< range()'s end, with its place
  PlacePtr place;
  std::string function;
  bool certain = true;
  int loops = 0;          ///< loops around it
  bool is_while = false;  ///< `while step < max_steps`: bound is the compared value
};

/// A flag, dataclass field, click option or absl flag that the program declares.
struct Flag {
  std::string name;    ///< dest
  Value value;         ///< after parsing
  Value fallback;      ///< the declared default, with its place
  bool given = false;  ///< set by the command
  bool read = false;   ///< the program looked at it
  std::string owner;   ///< dataclass name, or "" for parser flags
  PlacePtr declared;
};

/// A config that the program put together: file, yacs node, Hydra config, ...
struct LoadedConfig {
  std::string how;  ///< "yaml.safe_load", "hydra", "mmengine.Config", ...
  std::string file;
  Value value;
};

/// The program would stop here: sys.exit, raise, failed assert, unknown flag.
struct Stop {
  std::string reason;
  PlacePtr place;
  bool certain = true;
  std::size_t calls = 0;  ///< recorded before it
};

struct Observation {
  std::vector<Call> calls;  ///< in order of execution
  std::vector<Loop> loops;
  std::vector<Flag> flags;
  std::vector<LoadedConfig> configs;
  std::vector<std::shared_ptr<Instance>> instances;  ///< objects of the tree's classes
  Dict imports;  ///< outside module -> place of its first import
  std::vector<Stop> stops;
  Dict globals;                    ///< top-level names of the entry at its end (plain values only)
  std::vector<std::string> files;  ///< of the tree that were executed, entry first
  std::vector<command::Word>
      leftover;           ///< words no parser took (parse_known_args, unknown launchers)
  std::int64_t runs = 1;  ///< Hydra multirun and the like
};

struct PythonRun {
  std::string script;    ///< relative to the root, or "" with `module`
  std::string module;    ///< its dotted name, where it is run by that
  std::string function;  ///< of it, which a console script calls
  std::vector<command::Word> args;
  command::Environment env;
  std::string cwd;
  int gpus_per_node = 1;
  int nodes = 1;
  int processes = 1;             ///< world size as the launcher makes it
  std::int64_t steps = 400'000;  ///< bound on evaluated nodes
};

}  // namespace schedmate::python
