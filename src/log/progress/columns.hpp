// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tables in logs: a line of names, then lines of as many numbers ("epoch train_loss time", CSV).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::progress {

class Columns {
 public:
  /// A line without digits may be a head; any other text ends the table.
  void see_text(std::string_view body);
  /// The first name is that of a time stamp or a time.
  [[nodiscard]] bool begin_with_time() const;
  /// "epoch: 3, train_loss: 0.5" of a line that fits the head.
  [[nodiscard]] std::optional<std::string> row(std::string_view body) const;

 private:
  std::vector<std::string> names_;
  char separator_ = ' ';
};

}  // namespace schedmate::progress
