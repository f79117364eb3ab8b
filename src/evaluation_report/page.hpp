// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A document as blocks, written as Markdown and as one HTML page.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace schedmate::evaluation_report {

/// Text, and the line of a file on which it stands; line 0: a link to the file; no file: none.
struct Cell {
  std::string text;
  std::string file{};
  std::size_t line = 0;
};

struct Block {
  enum class Kind : std::uint8_t { heading, paragraph, list, table, code, drawing } kind;
  int level = 1;       ///< of a heading
  std::string file{};  ///< of a table: where its cells' lines are; named once in Markdown
  /// A table's rows, the first its head; a list's points, else one cell.
  std::vector<std::vector<Cell>> rows;
};

class Page {
 public:
  void heading(int level, std::string text);
  void paragraph(std::string text);
  void code(std::string text);
  void list(const std::vector<std::string>& points);
  /// In Markdown cells of `file`, or of the file of the cell before in the row, have their line
  /// alone, others a link.
  void table(std::vector<std::vector<Cell>> rows, std::string file = "");
  /// SVG, which Markdown leaves out: its figures stand in a table, too.
  void drawing(std::string svg);

  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] std::string html(const std::string& title) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace schedmate::evaluation_report
