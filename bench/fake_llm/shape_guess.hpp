// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which of the numbers that a request enumerates hold what the labels of its log say.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace schedmate::bench {

struct ShownShape {
  std::vector<std::string> lines;
  std::vector<std::vector<double>> numbers;  ///< of each line, as the request enumerates them
};
/// Lines and, beneath each, "  0=3 1=0.5".
[[nodiscard]] ShownShape read_shape(const std::string& shown);

struct ShapeAnswer {
  std::map<std::string, std::size_t> places;  ///< step, total, loss, time
  std::string unit = "none", kind = "none";   ///< of the time, as the request wants them
};

/// The labels are of the last line like these; a label that no number of it is gives no place.
[[nodiscard]] ShapeAnswer right_places(const ShownShape& shape, const std::vector<std::string>& log,
                                       const std::map<std::string, double>& labels);

/// Every place is another one than in `right`; so are the unit and the kind.
[[nodiscard]] ShapeAnswer wrong_places(const ShownShape& shape, const ShapeAnswer& right);

}  // namespace schedmate::bench
