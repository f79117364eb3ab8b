// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The recursive descent behind parse_shell: shell_parser.cpp has what every command is made of,
/// shell_compound.cpp the compound ones (if, for, while, case, functions, [[ ]], (( ))).

#include <initializer_list>

#include "command/shell_syntax.hpp"

namespace schedmate::command {

using Words = std::initializer_list<std::string_view>;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), scanner_(text) {}
  Syntax parse();

 private:
  std::vector<Statement> block(Words ends);
  Statement group(Words ends);
  Statement chain();
  Statement pipeline();
  Statement command();
  Statement compound(std::string_view keyword);
  Statement branch();
  Statement for_loop();
  Statement while_loop(Kind kind);
  Statement choice();
  void choice_item(Statement& into);
  Statement enclosed(Kind kind, char last);
  Statement inner_text(Kind kind, std::string_view last);
  Statement function(Range name);
  Statement simple();
  void redirects(Statement& of);
  bool redirect(Statement& of);
  void read_here_documents();

  void skip_lines();  ///< blanks, line ends, comments, `;`
  void skip_line_end();
  void skip_comment();
  bool take(std::string_view mark);
  bool take_keyword(std::string_view keyword);
  void expect(std::string_view keyword);
  [[nodiscard]] std::string_view peek();
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] bool see(std::string_view mark) const {
    return text_.substr(at_).starts_with(mark);
  }
  Range next_word();
  bool see_any(Words ends);  ///< is the next word one of these?
  void note(std::size_t at, std::string text);

  std::string_view text_;
  Scanner scanner_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::size_t> pending_;
  Syntax made_;
};

}  // namespace schedmate::command
