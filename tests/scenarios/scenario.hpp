// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Scenario files: a small situation, and after a line of dashes what every policy named in it does
/// with it. Format: docs/formats/scenario.md.

#include <schedmate/cluster.hpp>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::scenario {

/// One `policy` line.
struct PolicyLine {
  std::string text;  ///< as written after `policy`: names the block of its expected rows
  std::string spec;  ///< NAME[:key=value,...]
  std::string mode = "repaired";
  Placer placer = Placer::consolidate;
};

struct Scenario {
  Trace trace;
  ClusterSpec cluster;
  std::vector<PolicyLine> policies;
  std::string situation;  ///< the file up to and with the line of dashes
  std::string expected;   ///< the rest
};

/// Errors: invalid, "NAME:LINE: ..." .
[[nodiscard]] Result<Scenario> read_scenario(const std::string& name, std::string_view text);

/// The expected part as it should be: a block for each policy line, a row for each job.
/// Errors: those of make_scheduler, make_estimator and simulate.
[[nodiscard]] Result<std::string> play(const Scenario& scenario);

/// Lines that differ, "-" expected and "+" got, each under the block it is in; "" when equal.
[[nodiscard]] std::string difference(std::string_view expected, std::string_view got);

}  // namespace schedmate::scenario
