// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small dense linear programs whose origin is feasible: the primal simplex method, the same answer
/// for the same program always. Meant for coefficients between about 0.001 and 10,000.

#include <cstdint>
#include <optional>
#include <vector>

namespace schedmate::elastic {

/// objective x is to be as large as it can be with matrix x <= limits and x >= 0.
struct LinearProgram {
  std::vector<double> objective;  ///< by column
  std::vector<double> limits;     ///< by row, none below 0
  std::vector<double> matrix;     ///< row after row
};

struct LinearOptimum {
  double objective = 0;
  std::vector<double> values;  ///< by column: a vertex; of equally good ones any
  std::vector<double> prices;  ///< by row: what one more of its limit is worth
  std::int64_t pivots = 0;
};

/// Nothing when the objective has no bound. Rows in which a column is 0 cost nothing, so programs
/// whose columns have few coefficients are fast.
[[nodiscard]] std::optional<LinearOptimum> maximise(const LinearProgram& program);

}  // namespace schedmate::elastic
