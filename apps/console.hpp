// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one way to standard output and standard error. Text of others (names, lines of logs,
/// replies) is made safe for a terminal here, so that no command can forget it; and what could not
/// be written is noticed here, so that no command ends with 0 after it lost its answer.

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/document.hpp"

namespace schedmate {

class Console {
 public:
  /// Descriptors of the two streams. One that is closed is held by a file that refuses everything:
  /// no file that is opened later takes its number, and with it the text.
  explicit Console(int out = 1, int err = 2);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Styles of base/words.hpp are shown; else they are left out.
  void show_styles() { styles_ = true; }
  /// The terminal is so many columns wide: longer lines of text() are folded. 0: no terminal.
  void fit(std::size_t columns) { columns_ = columns; }

  /// Text on standard output. Controls but for line end and tab, and marks that turn the direction
  /// of writing, become '?'.
  void text(std::string_view text);
  void json(const Document& document);       ///< a document, indented
  void json_line(const Document& document);  ///< a document on a line of its own
  void verbatim(std::string_view text);      ///< as text(), but never folded: CSV, scripts
  /// Writes what is kept back. False when text was lost: nobody reads it any more.
  bool flush();

  /// "schedmate: MESSAGE" as one line on standard error. It does not matter whether it can be seen.
  void warn(std::string_view message);
  /// What moves on standard error (a progress bar), as it is. From any thread.
  void draw(std::string_view text) const;

  /// Flushes and closes. Gives the exit code: `status`, or 4 with a line on standard error if a
  /// command that had succeeded lost text; 141 without one when the reader went away.
  int finish(int status);

 private:
  void put(std::string_view text);
  int out_, err_;
  int error_ = 0;  ///< errno of the first write that failed
  bool at_once_;   ///< a terminal: what is printed is seen before the next step begins
  bool styles_ = false;
  std::size_t columns_ = 0;
  std::string buffer_;
};

}  // namespace schedmate
