// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The lines of a text, made into Places: one for all scalars of a short line, a window around the
/// scalar in a long one (minified JSON), so that a million scalars do not hold a million copies.

#include <string_view>

#include "config/value_names.hpp"

namespace schedmate::config {

class Places {
 public:
  /// `text` must outlive this; `file` is shown in the places.
  Places(std::string_view text, std::string_view file);

  /// The place at a 1-based line and 0-based column.
  PlacePtr at(int line, std::size_t column);
  /// The place at an offset into the text.
  PlacePtr at_offset(std::size_t offset);
  [[nodiscard]] int line_of(std::size_t offset) const;

 private:
  std::string_view text_;
  std::string file_;
  std::vector<std::size_t> starts_;
  PlacePtr last_;
  std::size_t last_window_ = 0;
};

/// A text without UTF-8 byte order mark.
[[nodiscard]] std::string_view without_bom(std::string_view text);

}  // namespace schedmate::config
