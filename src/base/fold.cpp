// SPDX-License-Identifier: Apache-2.0
#include "base/fold.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate {
namespace {

/// Bytes of the character or colour at `at`, and the columns that it takes.
struct Piece {
  std::size_t bytes, columns;
};

Piece piece_at(std::string_view line, std::size_t at) {
  constexpr std::size_t longest_colour = 16;
  if (line[at] == '\033') {
    const std::size_t end = line.substr(at, longest_colour).find('m');
    if (end != std::string_view::npos) return {end + 1, 0};
  }
  return {std::max<std::size_t>(utf8_length(line, at), 1), 1};
}

/// As many bytes as fit into `columns`, at least one character.
std::size_t fitting(std::string_view line, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t used = 0; at < line.size();) {
    const Piece piece = piece_at(line, at);
    if (used + piece.columns > columns && used > 0) break;
    used += piece.columns;
    at += piece.bytes;
  }
  return at;
}

/// Where the last column of a table begins, if that leaves it two fifths of the room; else the
/// line's own indentation and two more.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  const std::string_view start = line.substr(0, fitting(line, columns * 3 / 5));
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t last = start.rfind("  ");
  if (last != std::string_view::npos && last >= own && last + 2 < start.size())
    return columns_of(start.substr(0, last + 2));
  return std::min(own + 2, columns / 2);
}

void fold_line(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t indent = hanging_indent(line, columns);
  for (std::size_t room = columns; fitting(line, room) < line.size(); room = columns - indent) {
    std::size_t end = fitting(line, room);
    // A blank at the very edge ends a word that just fits. In the indentation there is no break.
    const std::size_t blank = line.rfind(' ', end);
    const std::size_t first = line.find_first_not_of(' ');
    if (blank != std::string_view::npos && blank > first &&
        columns_of(line.substr(0, blank)) > (room == columns ? indent : room / 3))
      end = blank;
    else if (const std::size_t comma = line.substr(0, end).rfind(',');
             comma != std::string_view::npos && columns_of(line.substr(0, comma)) > room / 3)
      end = comma + 1;  // a list without blanks, such as the settings of a policy
    out += line.substr(0, line.substr(0, end).find_last_not_of(' ') + 1);
    out += '\n';
    out.append(indent, ' ');
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  out += line;
}

}  // namespace

std::size_t columns_of(std::string_view line) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Piece piece = piece_at(line, at);
    columns += piece.columns;
    at += piece.bytes;
  }
  return columns;
}

std::string folded(std::string_view text, std::size_t columns) {
  constexpr std::size_t narrowest = 20;
  if (columns == 0) return std::string(text);
  std::string out;
  bool first = true;
  for (const std::string_view line : split(text, '\n')) {
    if (!first) out += '\n';
    first = false;
    fold_line(line, std::max(columns, narrowest), out);
  }
  return out;
}

}  // namespace schedmate
