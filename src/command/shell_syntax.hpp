// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shell text as statements. Our own parser and not a tree-sitter grammar: of 73 wrapper scripts in
/// public training repositories that one misread three, and one unusual `case` cost the rest of a
/// file, while here a mistake costs a line.

#include <string>
#include <string_view>
#include <vector>

#include "command/shell_lexer.hpp"

namespace schedmate::command {

struct Redirect {
  int descriptor = -1;  ///< as written, -1 when not
  std::string mark;     ///< ">", ">>", "<", "<<", "<<<", "&>", ">&", ...
  Range target;
  int here = -1;  ///< index in Syntax::here for "<<"
};

struct HereDocument {
  Range body;
  std::string end;
  bool expands = true;  ///< false when the end mark was quoted
  bool indented = false;
};

enum class Kind : std::uint8_t {
  simple,      ///< words: assignments first, then the command
  pipeline,    ///< parts
  chain,       ///< parts joined by `marks` ('&' for &&, '|' for ||)
  group,       ///< { parts; } and the bodies of others
  subshell,    ///< ( parts )
  branch,      ///< parts: condition, body, condition, body, ..., [else body]
  loop_over,   ///< words: name, items...; parts: body
  loop_count,  ///< words: the three expressions; parts: body
  loop_while,  ///< parts: condition, body
  loop_until,  ///< parts: condition, body
  choice,      ///< words: subject; patterns and parts side by side; marks: ';', '&' or 't' (;;&)
  function,    ///< words: name; parts: body
  arithmetic,  ///< words: the expression
  test,        ///< words: what stands inside [[ ]]
  negated,     ///< parts: one
};

struct Statement {
  Kind kind = Kind::simple;
  Range range;
  std::vector<Range> words;
  std::vector<Redirect> redirects;
  std::vector<Statement> parts;
  std::vector<std::vector<Range>> patterns;
  std::string marks;
  bool lists_items = false;  ///< loop_over: false for `for x; do`, which walks "$@"
  bool background = false;
};

struct SyntaxNote {
  std::size_t at = 0;
  std::string text;
};

struct Syntax {
  std::vector<Statement> body;
  std::vector<HereDocument> here;
  std::vector<SyntaxNote> notes;
};

/// Never fails: what is not understood becomes a note and is passed over.
[[nodiscard]] Syntax parse_shell(std::string_view text);

}  // namespace schedmate::command
