// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For tests: a program in a folder of its own, observed.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "python/interpreter/observe.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

struct Trial {
  python::Observation seen;
  /// The value of a top-level name at the end, as repr().
  [[nodiscard]] std::string operator[](std::string_view name) const {
    const code::Value* value = seen.globals.find(name);
    return value == nullptr ? "<absent>" : code::repr(*value);
  }
  [[nodiscard]] const python::Flag* flag(std::string_view name) const {
    for (const python::Flag& each : seen.flags) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  /// The reasons of all stops.
  [[nodiscard]] std::string stops() const {
    std::string all;
    for (const python::Stop& stop : seen.stops) all += stop.reason + "\n";
    return all;
  }
  /// The keyword argument of the first call of that name.
  [[nodiscard]] std::string argument(std::string_view callee, std::string_view name) const {
    for (const python::Call& call : seen.calls) {
      const code::Value* value = call.callee == callee ? call.named.find(name) : nullptr;
      if (value != nullptr) return code::repr(*value);
    }
    return "<absent>";
  }
};

struct TrialFile {
  std::string path, text;
};

/// Runs a program of these files.
inline Trial run_entry(const python::PythonRun& run, const std::vector<TrialFile>& files) {
  const Scratch folder;
  for (const TrialFile& file : files) {
    const std::filesystem::path full = folder.path(file.path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << file.text;
  }
  auto tree = tree::Tree::open(folder.path());
  REQUIRE(tree.has_value());
  auto seen = python::observe(*tree, run);
  REQUIRE(seen.has_value());
  return {std::move(*seen)};
}

/// Runs main.py with these words on 4 GPUs; `processes` as a launcher would start.
inline Trial run_program(const std::string& program, const std::string& words = "",
                         const std::vector<TrialFile>& files = {}, int processes = 1) {
  python::PythonRun run;
  run.script = "main.py";
  run.gpus_per_node = 4;
  run.processes = processes;
  std::istringstream parts(words);
  for (std::string part; parts >> part;) {
    const code::Place place{"<command>", 0, part, FactSource::command, {}};
    run.args.push_back({part, std::make_shared<const code::Place>(place), !part.starts_with('$')});
  }
  std::vector<TrialFile> all = files;
  all.insert(all.begin(), {"main.py", program});
  return run_entry(run, all);
}

}  // namespace schedmate::testing
