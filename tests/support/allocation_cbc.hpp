// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The program `cbc` (COIN-OR branch and cut) as a second opinion on an allocation, for tests and
/// benchmarks, where it is installed.

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "elastic/allocation.hpp"

namespace schedmate::testing {

inline bool has_cbc() { return std::system("command -v cbc > /dev/null 2>&1") == 0; }

/// The problem in the LP format: options of the jobs that are not pinned, against none.
inline std::string allocation_lp(const elastic::AllocationProblem& problem) {
  std::string goal, choices, names;
  std::vector<std::string> uses(problem.capacity.size());
  std::vector<std::int64_t> free = problem.capacity;
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
    const elastic::AllocationJob& job = problem.jobs[i];
    if (job.pinned != elastic::no_option) {
      const elastic::AllocationOption& option = job.options[static_cast<std::size_t>(job.pinned)];
      free[option.type] -= option.gpus;
      continue;
    }
    std::string one;
    for (std::size_t k = 0; k < job.options.size(); ++k) {
      const elastic::AllocationOption& option = job.options[k];
      const std::string name = fmt::format("x{}_{}", i, k);
      fmt::format_to(std::back_inserter(goal), "{:+.17g} {}\n", option.value - problem.without,
                     name);
      one += " + " + name;
      fmt::format_to(std::back_inserter(uses[option.type]), " + {} {}\n", option.gpus, name);
      names += " " + name + "\n";
    }
    if (!one.empty()) fmt::format_to(std::back_inserter(choices), "j{}:{} <= 1\n", i, one);
  }
  std::string limits;
  for (std::size_t type = 0; type < uses.size(); ++type) {
    if (uses[type].empty()) continue;
    fmt::format_to(std::back_inserter(limits), "c{}:{} <= {}\n", type, uses[type], free[type]);
  }
  return fmt::format("{}\nobj: {}\nSubject To\n{}{}Binary\n{}End\n",
                     problem.maximise ? "Maximize" : "Minimize", goal, choices, limits, names);
}

/// The objective that cbc proves best, or nothing when it does not within 20 seconds. The files
/// begin with `path`. Its preprocessing (2.10.8) loses the optimum of some small problems: off.
inline std::optional<double> cbc_objective(const elastic::AllocationProblem& problem,
                                           const std::string& path) {
  std::ofstream(path + ".lp") << allocation_lp(problem);
  const std::string command = fmt::format(
      "cbc {0}.lp sec 20 ratio 0 preprocess off solve solution {0}.txt > {0}.log 2>&1", path);
  if (std::system(command.c_str()) != 0) return std::nullopt;
  std::string line;
  std::ifstream solution(path + ".txt");
  if (!std::getline(solution, line) || !line.starts_with("Optimal")) return std::nullopt;
  double objective = 0;
  if (!(std::istringstream(line.substr(line.rfind(' '))) >> objective)) return std::nullopt;
  for (const elastic::AllocationJob& job : problem.jobs) {
    objective += job.pinned == elastic::no_option
                     ? problem.without
                     : job.options[static_cast<std::size_t>(job.pinned)].value;
  }
  return objective;
}

}  // namespace schedmate::testing
