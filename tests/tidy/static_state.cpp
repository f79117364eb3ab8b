// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "tests/tidy/code.hpp"
#include "tests/tidy/scan.hpp"

namespace schedmate::tidy {
namespace {

enum class Scope : std::uint8_t { of_namespace, of_class, of_block };

/// The words before the type of a declaration.
struct Specifiers {
  bool is_static = false;  ///< or of a thread
  bool is_constant = false;
  std::string_view rest;
};

Specifiers read_specifiers(std::string_view head) {
  Specifiers found;
  for (bool again = true; again;) {
    again = false;
    head = trim(head);
    for (const std::string_view word : {"static", "thread_local", "inline", "constexpr"}) {
      if (!begins_with_word(head, word)) continue;
      found.is_static = found.is_static || word == "static" || word == "thread_local";
      found.is_constant = found.is_constant || word == "constexpr";
      head = head.substr(word.size());
      again = true;
    }
  }
  found.rest = head;
  return found;
}

/// The text without what stands in angle brackets.
std::string without_arguments(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>') --depth;
  }
  return out;
}

bool has_const(std::string_view text) {
  for (auto at = text.find("const"); at != std::string_view::npos;
       at = text.find("const", at + 1)) {
    if ((at == 0 || !is_word(text[at - 1])) && begins_with_word(text.substr(at), "const"))
      return true;
  }
  return false;
}

/// Can neither the variable nor what it points to be changed? `declarator` ends before the value.
bool is_constant(std::string_view declarator) {
  const auto outer = without_arguments(declarator);
  const bool owns = outer.contains("_ptr");  // a constant pointer to what may change
  if (owns && !has_const(declarator.substr(std::min(declarator.find('<'), declarator.size()))))
    return false;
  const auto star = outer.rfind('*');
  if (star == std::string::npos) return has_const(outer);
  return has_const(outer.substr(0, star)) && has_const(outer.substr(star));
}

/// What a statement declares up to the value: "int counter" of "int counter = 0"; nothing when it
/// declares a function or no variable.
std::optional<std::string_view> declarator_of(std::string_view text, Scope scope) {
  for (const std::string_view word :
       {"using", "typedef", "namespace", "static_assert", "enum", "friend", "struct", "class",
        "union", "template", "concept"}) {
    if (begins_with_word(text, word)) return std::nullopt;
  }
  if (text.substr(0, text.find('(')).contains("operator")) return std::nullopt;
  int angle = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<') ++angle;
    if (c == '>') --angle;
    if (angle > 0) continue;
    if (c == '=' || c == '{') return text.substr(0, at);
    if (c != '(') continue;
    const bool is_pointer = trim(text.substr(at + 1)).starts_with('*');
    if (is_pointer) return text.substr(0, behind_group(text, at));
    if (scope == Scope::of_block) return text.substr(0, at);
    return std::nullopt;
  }
  return text;
}

/// The last word; a declaration has another before it, its type.
std::string_view name_in(std::string_view declarator) {
  auto end = declarator.find('[');
  end = std::min(end, declarator.size());
  while (end > 0 && !is_word(declarator[end - 1])) --end;
  const auto name = word_before(declarator, end);
  return trim(declarator.substr(0, end - name.size())).empty() ? std::string_view() : name;
}

class Search {
 public:
  explicit Search(std::string_view text) : text_(text) {}

  void scan(std::size_t at, std::size_t end, Scope scope) {
    for (auto head = at; at < end; ++at) {
      const char c = text_[at];
      if (c == '(' || c == '[') {
        at = scan_group(at, Scope::of_block) - 1;
      } else if (c == ';') {
        read_statement(head, at, scope);
        head = at + 1;
      } else if (c == '{') {
        const auto before = without_prefix(text_.substr(head, at - head));
        const bool goes_on = is_value(before, scope);
        at = scan_group(at, inner_scope(before)) - 1;
        if (!goes_on) head = at + 1;
      }
    }
  }
  std::vector<Variable> found;

 private:
  /// Reads what the bracket at `open` encloses; gives the position behind it.
  std::size_t scan_group(std::size_t open, Scope scope) {
    const auto behind = behind_group(text_, open);
    scan(open + 1, behind - 1, scope);
    return behind;
  }

  static Scope inner_scope(std::string_view before) {
    if (!opens_scope(before)) return Scope::of_block;
    const bool is_class =
        !begins_with_word(before, "namespace") && !begins_with_word(before, "extern");
    return is_class ? Scope::of_class : Scope::of_namespace;
  }

  /// Does the brace behind `before` belong to a value, so that the statement goes on after it?
  static bool is_value(std::string_view before, Scope scope) {
    if (opens_scope(before)) return false;
    if (scope == Scope::of_block) return read_specifiers(before).is_static;
    if (in_member_initialiser(before) || begins_with_word(before, "enum")) return true;
    return declarator_of(read_specifiers(before).rest, scope).has_value();
  }

  void read_statement(std::size_t begin, std::size_t end, Scope scope) {
    const auto words = read_specifiers(without_prefix(text_.substr(begin, end - begin)));
    if (words.is_constant || (scope != Scope::of_namespace && !words.is_static)) return;
    const auto declarator = declarator_of(words.rest, scope);
    if (!declarator || is_constant(*declarator)) return;
    const auto name = name_in(*declarator);
    if (name.empty()) return;
    found.push_back(
        {std::string(name), line_at(text_, static_cast<std::size_t>(name.data() - text_.data()))});
  }

  std::string_view text_;
};

}  // namespace

std::vector<Variable> find_static_state(std::string_view text) {
  Search search(text);
  search.scan(0, text.size(), Scope::of_namespace);
  return std::move(search.found);
}

}  // namespace schedmate::tidy
