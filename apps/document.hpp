// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A document as blocks, written as Markdown and as one HTML page.

#include <cstdint>
#include <string>
#include <vector>

namespace schedmate {

/// Text with a reference behind it: what it is called and where it leads; none when it is empty.
struct Cell {
  std::string text;
  std::string reference{}, target{};
};

struct Block {
  enum class Kind : std::uint8_t { heading, paragraph, list, table, code } kind;
  int level = 1;  ///< of a heading
  /// A table's rows, the first its head; a list's points, a paragraph or heading as one cell.
  std::vector<std::vector<Cell>> rows;
};

class Document {
 public:
  void heading(int level, std::string text);
  void paragraph(std::string text);
  void code(std::string text);
  void list(const std::vector<std::string>& points);
  void table(std::vector<std::vector<Cell>> rows);

  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] std::string html(const std::string& title) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace schedmate
