// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Text under expansion: pieces that remember where they were written and whether they are known.

#include <span>

#include "command/command.hpp"
#include "command/shell_syntax.hpp"

namespace schedmate::command {

struct Piece {
  std::string text;  ///< as written when not known
  PlacePtr place;
  bool known = true;
};
using Text = std::vector<Piece>;

/// Longer texts become unknown: `x=$x$x` doubles without end.
inline constexpr std::size_t most_text_bytes = 1 << 17;

[[nodiscard]] Text literal(std::string text, PlacePtr place);
[[nodiscard]] Text unknown(std::string as_written, PlacePtr place);
[[nodiscard]] bool known(const Text& text);
[[nodiscard]] std::string written(const Text& text);  ///< unknown pieces as they were written
[[nodiscard]] std::optional<std::string> plain(const Text& text);  ///< nothing unless known
[[nodiscard]] PlacePtr place_of(const Text& text);
void append(Text& to, const Text& more);
/// Items with a blank between them.
[[nodiscard]] Text joined(std::span<const Text> items, const PlacePtr& place);
/// Cut at blanks; unknown pieces stay whole.
[[nodiscard]] std::vector<Text> split_at_blanks(const Text& text);
/// Without line ends at its end, as $(...) gives it.
[[nodiscard]] Text without_line_end(Text text);

/// The place is that of the first part that came from elsewhere, with `from` = where it is used.
[[nodiscard]] Word to_word(const Text& text, const PlacePtr& use);
[[nodiscard]] Text to_text(const Word& word);

/// Shell text and where it was written.
struct Script {
  std::string path;  ///< for $0 and BASH_SOURCE
  std::string text;
  const tree::TextFile* file = nullptr;  ///< when its lines are those of a file of the tree,
  int first_line = 1;                    ///< from this one on
  PlacePtr within;                       ///< of the word that it was a part of (bash -c, eval)
  Text pieces;                           ///< what that word was made of, each with its own place
  Syntax syntax;

  [[nodiscard]] std::string_view at(Range range) const {
    return std::string_view(text).substr(range.begin, range.end - range.begin);
  }
  [[nodiscard]] PlacePtr place(Range range) const;
  /// The place of a piece in the range that was not written where the text itself was.
  [[nodiscard]] PlacePtr foreign_place(Range range) const;
  [[nodiscard]] std::string describe(std::size_t offset) const;  ///< "run.sh:12"
  [[nodiscard]] int line_of(std::size_t offset) const;

 private:
  mutable std::size_t counted_to_ = 0;
  mutable int counted_ = 0;
};

/// A script out of expanded text: `eval $COMMAND`.
[[nodiscard]] Script script_of(const Text& text, std::string path);

}  // namespace schedmate::command
