// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A small experiment in a folder of its own, and the rows of its CSV.

#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/program.hpp"

namespace schedmate {

/// 300 jobs of four users that crowd 2 nodes of 8 GPUs.
[[nodiscard]] std::string two_node_crowd();

extern const std::string_view small_experiment;

struct World : Scratch {
  World();
  [[nodiscard]] Ran evaluate(const std::string& out, const std::string& threads = "1") const;
  /// The report, and the page of an experiment that it links.
  [[nodiscard]] std::string report(const std::string& experiment = "small") const;
};

struct Row {
  std::string arm, figure, value, note;
};
[[nodiscard]] std::vector<Row> rows_of(const std::string& csv);
/// "absent" where there is no such row.
[[nodiscard]] std::string value_of(const std::vector<Row>& rows, std::string_view arm,
                                   std::string_view figure);

}  // namespace schedmate
