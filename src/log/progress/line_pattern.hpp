// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines that say their numbers by place and not by key, as a text with placeholders:
/// "{step}: {_}, {loss} avg loss, {_} rate, {time} seconds" (docs/formats/logs.md).

#include <array>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::progress {

enum class PatternPlace : std::uint8_t {
  step,
  total,
  epoch,
  epochs,
  loss,
  time,     ///< of one step, with its unit; seconds where none is printed
  since,    ///< since the last report
  elapsed,  ///< since some start
  covers,   ///< steps that the time covers
  rate,     ///< steps a second
  number,   ///< "{_}"
  text,     ///< "{*}": as little as possible
  literal,
};

class LinePattern {
 public:
  using Values = std::array<std::optional<double>, static_cast<std::size_t>(PatternPlace::literal)>;

  /// Errors: invalid (an unknown placeholder, two of them side by side, no number at all).
  static Result<LinePattern> parse(std::string_view text);

  /// What stands at the places when the body begins as the pattern says; what follows is free.
  [[nodiscard]] std::optional<Values> read(std::string_view body) const;
  /// Some placeholder has a meaning.
  [[nodiscard]] bool has_fields() const;
  [[nodiscard]] bool empty() const { return pieces_.empty(); }

 private:
  struct Piece {
    PatternPlace place = PatternPlace::literal;
    std::string text;  ///< of a literal; a space stands for any number of blanks
  };
  [[nodiscard]] bool may_fit(std::string_view body) const;

  std::vector<Piece> pieces_;
  std::string needle_;  ///< of its literals the longest word
};

}  // namespace schedmate::progress
