// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a job is, read from its tree and command (paper 3.1, Metadata Extractor).
///
/// A fact is a value with the lines that prove it. Unknown is a fact without a value, never a
/// guess. `extract_facts` runs the whole static chain (command, shell, Python, configs, rules) and
/// needs no model. It executes no code of the job, and reads beneath `JobSource::root` only.
/// docs/formats/facts.md describes each field.

#include <cstdint>
#include <map>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <variant>
#include <vector>

namespace schedmate {

/// Where a value was decided, as printed in `source`. Later kinds do not outrank earlier ones: the
/// rules of each library say what wins.
enum class FactSource : std::uint8_t {
  command,      ///< written in the submitted command
  shell,        ///< written in a shell wrapper
  fallback,     ///< default of a flag or field ("default" in JSON)
  config,       ///< one configuration file
  composition,  ///< several configuration files together
  code,         ///< the program itself
  table,        ///< general knowledge: a row of rules/
  environment,  ///< the resource request
  model,        ///< a language model's answer, checked
};

/// One line that proves a value.
struct Evidence {
  /// Relative to the root, or "<command>", "<request>", "rules/NAME.toml".
  std::string file;
  /// 1-based; 0 where the file has no lines (<command>, <request>).
  int line = 0;
  /// The line or an unchanged part of it.
  std::string text;
};

/// Amount of training: `unit` is epochs, steps, samples, env steps or kimg.
struct Length {
  double amount = 0;
  std::string unit;
  bool operator==(const Length&) const = default;
};

/// monostate = unknown.
using FactValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, Length>;

struct Fact {
  FactValue value;
  /// 0 to 1: the share of right answers to expect from the rule.
  double confidence = 0;
  FactSource source = FactSource::code;
  /// First the line that decides, then those that its value comes from.
  std::vector<Evidence> evidence;
  [[nodiscard]] bool known() const { return value.index() != 0; }
};

/// What the job will do, as far as its code shows.
/// `unknown`: nothing was read that trains, or the request does not fit; null in JSON.
enum class Outlook : std::uint8_t { runs, evaluation_only, fails_early, unknown };

/// A candidate that lost, kept for --explain.
struct Rejected {
  std::string field;
  Fact fact;
  std::string why;
};

/// What language models were asked for these facts, and what they gave. All zero: none was asked.
struct ModelUse {
  /// Requests that went to a server, retries included.
  std::int64_t calls = 0;
  std::int64_t tokens = 0;
  /// Values that a line proves, and values that none does. Only the first become facts.
  std::int64_t accepted = 0, dropped = 0;
};

struct Facts {
  /// By field name. A field that is absent is unknown, like one without a value.
  std::map<std::string, Fact, std::less<>> facts;
  /// What the job has beside the fixed fields.
  std::map<std::string, Fact, std::less<>> extra;
  Outlook expect = Outlook::runs;
  /// Why not `runs`; "" when it is.
  std::string expect_reason;
  /// Trainings in this job (loops, folds, sweeps).
  std::int64_t runs = 1;
  std::vector<std::string> files_read;
  /// Content hash of all files that were read: equal hashes give equal facts.
  std::string tree;
  /// What could not be read, and why.
  std::vector<std::string> degraded;
  std::vector<Rejected> rejected;
  ModelUse model;
  /// Measured, so it differs from run to run; everything else is a function of the input.
  double wall_ms = 0;

  /// Null when there is no such field.
  [[nodiscard]] const Fact* find(std::string_view field) const;
};

/// Where a folder of the tree stood when the command was written.
struct RootName {
  /// Absolute: "/scratch/ann/proj".
  std::string as;
  /// Relative to the root.
  std::string folder = ".";
};

/// A submitted job.
struct JobSource {
  std::string root;
  /// Relative to `root`.
  std::string workdir = ".";
  std::string command;
  /// Total over all nodes; 0 = not said: what the command's submission asks for, else 1.
  int gpus = 0;
  int nodes = 0;
  /// As the request names it, "" = not said.
  std::string gpu_type;
  /// Folder whose TOML files add rows to the built-in tables, "" = none.
  std::string rules{};
  /// Absolute paths below these are read in the tree.
  std::vector<RootName> roots{};
  /// Who asks: the root must belong to him or be open to all, and is read with his rights.
  Identity identity{};
};

/// Reads the job in a child process that may read the root alone, as base/foreign_file.hpp says.
/// Any thread may call it. Errors: not_found (no such root), invalid (no command, wrong rules),
/// refused (the root may not be read), timeout (the child was stopped at its deadline before it had
/// read the command). What cannot be understood is no error: the fact stays unknown. Of a child
/// that was stopped or crashed later, what it had read is kept, and `degraded` says so.
[[nodiscard]] Result<Facts> extract_facts(const JobSource& job);

/// What the command asks of its scheduler, without reading the program: gpus, nodes, gpu_type, and
/// in `extra` partition, time_limit_s and the like. Errors: as extract_facts.
[[nodiscard]] Result<Facts> extract_request(const JobSource& job);

}  // namespace schedmate
