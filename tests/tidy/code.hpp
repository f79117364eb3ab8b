// SPDX-License-Identifier: Apache-2.0
#pragma once

/// As much understanding of C++ as the rules need, without a compiler: text without comments,
/// strings and preprocessor lines, and where functions begin and end.

#include <string>
#include <string_view>
#include <vector>

namespace schedmate::tidy {

/// The same text with comments, string and character literals, and preprocessor
/// lines turned into spaces; every other character keeps its line and column.
[[nodiscard]] std::string blank_non_code(std::string_view text);

/// The same text with everything but its comments turned into spaces.
[[nodiscard]] std::string blank_non_comments(std::string_view text);

struct Function {
  std::string name;
  int line = 0;   ///< of its first token, from 1
  int lines = 0;  ///< from the first token to the closing brace; 0 for a declaration
  int parameters = 0;
  bool mainly_switch = false;  ///< a switch takes at least two thirds of its lines
};

/// Functions defined or declared at namespace or class level, in blanked text. Lambdas and blocks
/// count to the function around them.
[[nodiscard]] std::vector<Function> find_functions(std::string_view text);

struct Variable {
  std::string name;
  int line = 0;  ///< of its name
};

/// Variables in blanked text that live as long as the program and are not constant: of a namespace,
/// of a class (static), of a function (static), of a thread.
[[nodiscard]] std::vector<Variable> find_static_state(std::string_view text);

}  // namespace schedmate::tidy
