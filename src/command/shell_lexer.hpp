// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where words, quotes and substitutions of shell text end. Positions only; nothing is expanded.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace schedmate::command {

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Walks over shell text. `closed()` turns false when a quote or bracket had no end (the walk then
/// stops at the end of the text) or the nesting was too deep.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  /// End of the word that begins at `at`; `at` itself when a mark stands there.
  std::size_t word(std::size_t at);
  /// From behind the opening mark to behind the closing one.
  std::size_t parentheses(std::size_t at);
  std::size_t braces(std::size_t at);
  /// End of one character, quoted text or substitution.
  std::size_t unit(std::size_t at);
  /// Behind spaces, tabs and continued lines.
  [[nodiscard]] std::size_t blanks(std::size_t at) const;
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  std::size_t give_up();
  std::size_t single_quoted(std::size_t at, bool escapes);
  std::size_t double_quoted(std::size_t at);
  std::size_t backquoted(std::size_t at);
  std::size_t dollar(std::size_t at);
  std::size_t here_document(std::size_t at);
  [[nodiscard]] char at(std::size_t index) const {
    return index < text_.size() ? text_[index] : '\0';
  }

  std::string_view text_;
  int depth_ = 0;
  int here_documents_ = 0;
  bool closed_ = true;
};

/// `name=value`, `name+=value`, `name[index]=value`.
struct AssignmentWord {
  std::string_view name;
  std::optional<std::string_view> index;
  bool append = false;
  std::string_view value;
};
[[nodiscard]] std::optional<AssignmentWord> split_assignment(std::string_view word);

[[nodiscard]] bool is_name(std::string_view text);
[[nodiscard]] std::size_t name_length(std::string_view text);

/// The words of an array or a test, comments and line ends left out; marks such as `&&` count as
/// words of their own.
[[nodiscard]] std::vector<Range> words_in(std::string_view text);

}  // namespace schedmate::command
