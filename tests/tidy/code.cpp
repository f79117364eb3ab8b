// SPDX-License-Identifier: Apache-2.0
#include "tests/tidy/code.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "tests/tidy/scan.hpp"

namespace schedmate::tidy {
namespace {

/// Copies the text and blanks what is not code, or what is no comment.
class Blanker {
 public:
  enum class Keep : std::uint8_t { code, comments };
  Blanker(std::string_view text, Keep keep) : in_(text), out_(text), keep_(keep) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = in_[at_];
    if (starts("//")) {
      comment_until(in_.find('\n', at_));
    } else if (starts("/*")) {
      comment_until(after("*/", at_ + 2));
    } else if (c == '#' && keep_ == Keep::code && only_space_before()) {
      blank_until(end_of_directive());
    } else if (c == '"' && at_ > 0 && in_[at_ - 1] == 'R') {
      const auto open = in_.find('(', at_);
      const auto delimiter = std::string(in_.substr(at_ + 1, open - at_ - 1));
      blank_until(after(")" + delimiter + "\"", at_));
    } else if (c == '"' || (c == '\'' && (at_ == 0 || !is_word(in_[at_ - 1])))) {
      blank_until(end_of_literal(c));
    } else if (keep_ == Keep::code) {
      ++at_;
    } else {
      blank_until(at_ + 1);
    }
  }

  [[nodiscard]] bool starts(std::string_view what) const {
    return in_.substr(at_).starts_with(what);
  }
  [[nodiscard]] std::size_t after(std::string_view what, std::size_t from) const {
    const auto found = in_.find(what, from);
    return found == std::string_view::npos ? found : found + what.size();
  }
  [[nodiscard]] bool only_space_before() const {
    const auto line = in_.substr(0, at_);
    return trim(line.substr(line.rfind('\n') + 1)).empty();
  }
  [[nodiscard]] std::size_t end_of_directive() const {
    auto end = in_.find('\n', at_);
    while (end != std::string_view::npos && end > 0 && in_[end - 1] == '\\') {
      end = in_.find('\n', end + 1);
    }
    return end;
  }
  [[nodiscard]] std::size_t end_of_literal(char quote) const {
    auto end = at_ + 1;
    while (end < in_.size() && in_[end] != quote && in_[end] != '\n') {
      end += in_[end] == '\\' ? 2 : 1;
    }
    return end + 1;
  }

  void blank_until(std::size_t end) {
    end = std::min(end, in_.size());
    for (; at_ < end; ++at_) {
      if (in_[at_] != '\n') out_[at_] = ' ';
    }
  }

  void comment_until(std::size_t end) {
    if (keep_ == Keep::code) {
      blank_until(end);
    } else {
      at_ = std::min(end, in_.size());
    }
  }

  std::string_view in_;
  std::string out_;
  Keep keep_;
  std::size_t at_ = 0;
};

/// Is `at` a character of an operator's name, as the second one of `operator<=`?
bool in_operator_name(std::string_view text, std::size_t at) {
  while (at > 0 && std::string_view("=<>!+-*/%^&|~").find(text[at - 1]) != std::string_view::npos) {
    --at;
  }
  return word_before(text, at) == "operator";
}

/// Parameters between the brackets of `group` = "(...)".
int count_parameters(std::string_view group) {
  const auto inner = group.substr(1, group.size() - 2);
  if (trim(inner).empty() || trim(inner) == "void") return 0;
  int depth = 0;
  int commas = 0;
  for (const char c : inner) {
    if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(c) != std::string_view::npos) --depth;
    if (c == ',' && depth == 0) ++commas;
  }
  return commas + 1;
}

/// A macro without a semicolon, and what follows it: "USE_CASE" of "USE_CASE(a) int f()".
bool is_macro_before(std::string_view name, std::string_view rest) {
  const auto is_capital = [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); };
  return name.size() > 1 && std::ranges::all_of(name, is_capital) && !trim(rest).empty() &&
         is_word(trim(rest).front());
}

struct Signature {
  std::string name;
  int parameters = 0;
};

/// Reads "Type name(parameters) ..." as far as it is a function; nothing for a type, a variable, a
/// macro without a body and the like.
std::optional<Signature> read_signature(std::string_view head) {
  static constexpr std::string_view no_function[] = {
      "using", "typedef", "namespace", "static_assert", "return", "enum", "friend", "extern"};
  for (const auto word : no_function) {
    if (begins_with_word(head, word)) return std::nullopt;
  }
  int angle = 0;
  for (std::size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    if (c != '(' && in_operator_name(head, at)) continue;
    if (c == '=') return std::nullopt;  // a variable's value
    if (c == '<') ++angle;
    if (c == '>') --angle;
    if (c != '(' || angle > 0) continue;
    const auto name = in_operator_name(head, at) ? "operator" : word_before(head, at);
    const auto end = behind_group(head, at);
    if (head.substr(at).starts_with("()(") || name == "decltype" || name == "alignas" ||
        name == "requires" || name == "explicit" || name == "__attribute__" ||
        is_macro_before(name, head.substr(end))) {
      at = end - 1;
      continue;
    }
    return Signature{std::string(name), count_parameters(head.substr(at, end - at))};
  }
  return std::nullopt;
}

bool mainly_switch(std::string_view body) {
  const auto all = std::ranges::count(body, '\n');
  for (auto at = body.find("switch"); at != std::string_view::npos;
       at = body.find("switch", at + 1)) {
    const auto open = body.find('{', at);
    if (open == std::string_view::npos) break;
    const auto inside = body.substr(open, behind_group(body, open) - open);
    if (3 * std::ranges::count(inside, '\n') >= 2 * all) return true;
  }
  return false;
}

}  // namespace

std::string blank_non_code(std::string_view text) {
  return Blanker(text, Blanker::Keep::code).run();
}

std::string blank_non_comments(std::string_view text) {
  return Blanker(text, Blanker::Keep::comments).run();
}

std::vector<Function> find_functions(std::string_view text) {
  std::vector<Function> found;
  std::size_t head_begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[') {
      at = behind_group(text, at) - 1;
      continue;
    }
    if (c != '{' && c != '}' && c != ';') continue;
    if (c == '{' && in_member_initialiser(text.substr(head_begin, at - head_begin))) {
      at = behind_group(text, at) - 1;
      continue;
    }
    const auto head = without_prefix(text.substr(head_begin, at - head_begin));
    const auto signature = c == '}' ? std::nullopt : read_signature(head);
    const auto end = c == '{' && !opens_scope(head) ? behind_group(text, at) : at + 1;
    if (signature) {
      const auto first = static_cast<std::size_t>(head.data() - text.data());
      const auto whole = text.substr(first, end - first);
      const int lines = c == ';' ? 0 : 1 + static_cast<int>(std::ranges::count(whole, '\n'));
      found.push_back({signature->name, line_at(text, first), lines, signature->parameters,
                       c == '{' && mainly_switch(whole)});
    }
    at = end - 1;
    head_begin = end;
  }
  return found;
}

}  // namespace schedmate::tidy
