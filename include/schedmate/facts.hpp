// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a job is, read from its tree and command (paper 3.1, Metadata Extractor).
///
/// A fact is a value with the lines that prove it. Unknown is a fact without a value, never a
/// guess. `extract_facts` runs the whole static chain (command, shell, Python, configs, rules) and
/// needs no model; it reads beneath `JobSource::root` only.

#include <cstdint>
#include <map>
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

/// One line that proves a value. `file` is relative to the root, or "<command>", "<request>", or
/// "rules/NAME.toml"; `text` is the line or an unchanged part of it.
struct Evidence {
  std::string file;
  int line = 0;  ///< 1-based; 0 where the file has no lines (<command>, <request>)
  std::string text;
};

/// Amount of training: `unit` is epochs, steps, samples, env steps or kimg.
struct Length {
  double amount = 0;
  std::string unit;
  bool operator==(const Length&) const = default;
};

using FactValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, Length>;

struct Fact {
  FactValue value;
  double confidence = 0;  ///< 0 to 1
  FactSource source = FactSource::code;
  std::vector<Evidence> evidence;
  [[nodiscard]] bool known() const { return value.index() != 0; }
};

enum class Outlook : std::uint8_t { runs, evaluation_only, fails_early };

/// A candidate that lost, kept for --explain.
struct Rejected {
  std::string field;
  Fact fact;
  std::string why;
};

/// What language models were asked for these facts, and what they gave. All zero: none was asked.
struct ModelUse {
  std::int64_t calls = 0;  ///< requests that went to a server, retries included
  std::int64_t tokens = 0;
  std::int64_t accepted = 0;  ///< values that a line proves
  std::int64_t dropped = 0;   ///< values that none does
};

struct Facts {
  std::map<std::string, Fact, std::less<>> facts;  ///< by field name (docs/formats/facts.md)
  std::map<std::string, Fact, std::less<>> extra;  ///< what the job has beside the fixed fields
  Outlook expect = Outlook::runs;
  std::string expect_reason;
  std::int64_t runs = 1;  ///< trainings in this job (loops, folds, sweeps)
  std::vector<std::string> files_read;
  std::string tree;  ///< content hash of the closure
  std::vector<std::string> degraded;
  std::vector<Rejected> rejected;
  ModelUse model;
  double wall_ms = 0;

  [[nodiscard]] const Fact* find(std::string_view field) const;
};

/// A submitted job. `workdir` is relative to `root`; `gpus` is the total over all nodes.
struct JobSource {
  std::string root;
  std::string workdir = ".";
  std::string command;
  int gpus = 1;
  int nodes = 1;
  std::string gpu_type;  ///< as the request names it, "" = not said
  std::string rules{};   ///< folder whose TOML files add rows to the built-in tables, "" = none
};

/// Errors: not_found (no such root), invalid (no command), refused (the root may not be read),
/// timeout (the reading process was stopped at its deadline).
[[nodiscard]] Result<Facts> extract_facts(const JobSource& job);

}  // namespace schedmate
