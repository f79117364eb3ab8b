// SPDX-License-Identifier: Apache-2.0
#include <regex.h>

#include <algorithm>
#include <array>

#include "command/paths.hpp"
#include "command/pattern.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

constexpr int deepest_test = 50;

Truth from(bool value) { return value ? Truth::yes : Truth::no; }

Truth both(Truth a, Truth b) {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::yes && b == Truth::yes ? Truth::yes : Truth::unknown;
}

Truth either(Truth a, Truth b) {
  if (a == Truth::yes || b == Truth::yes) return Truth::yes;
  return a == Truth::no && b == Truth::no ? Truth::no : Truth::unknown;
}

/// POSIX extended expression without what can make it slow.
Truth fits_expression(const std::string& expression, const std::string& text) {
  const bool risky = expression.size() > 80 || text.size() > 400 ||
                     expression.find_first_of("{\\") != std::string::npos;
  regex_t compiled;
  if (risky || regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    return Truth::unknown;
  const int answer = regexec(&compiled, text.c_str(), 0, nullptr, 0);
  regfree(&compiled);
  return from(answer == 0);
}

struct Token {
  std::string raw;  ///< as written in [[ ]], expanded in [ ]
  Text value;
  Text pattern;  ///< [[ ]] only
};

class Test {
 public:
  Test(Shell& shell, std::vector<Token> tokens, bool is_double)
      : shell_(shell), tokens_(std::move(tokens)), is_double_(is_double) {}

  Truth whole() {
    if (tokens_.empty()) return Truth::no;
    const Truth answer = any();
    return at_ == tokens_.size() ? answer : Truth::unknown;
  }

 private:
  bool see(std::string_view a, std::string_view b = {}) const {
    if (at_ >= tokens_.size()) return false;
    const auto& raw = tokens_[at_].raw;
    return raw == a || (!b.empty() && raw == b);
  }

  Truth any() {
    Truth answer = all();
    while (see("||", is_double_ ? "||" : "-o")) {
      ++at_;
      answer = either(answer, all());
    }
    return answer;
  }

  Truth all() {
    Truth answer = one();
    while (see("&&", is_double_ ? "&&" : "-a")) {
      ++at_;
      answer = both(answer, one());
    }
    return answer;
  }

  Truth one() {
    if (++depth_ > deepest_test || at_ >= tokens_.size()) return Truth::unknown;
    const bool last = at_ + 1 >= tokens_.size();
    if (see("!") && !last) {
      ++at_;
      return inverse(one());
    }
    if (see("(") && !last) {
      ++at_;
      const Truth answer = any();
      if (see(")")) ++at_;
      return answer;
    }
    if (at_ + 2 < tokens_.size() && is_comparison(tokens_[at_ + 1].raw)) {
      const Token& left = tokens_[at_];
      const auto mark = tokens_[at_ + 1].raw;
      const Token& right = tokens_[at_ + 2];
      at_ += 3;
      return compare(left, mark, right);
    }
    const auto& raw = tokens_[at_].raw;
    if (!last && raw.size() == 2 && raw[0] == '-') {
      at_ += 2;
      return ask(raw[1], tokens_[at_ - 1]);
    }
    return not_empty(tokens_[at_++].value);
  }

  static bool is_comparison(std::string_view mark) {
    constexpr auto marks =
        std::to_array<std::string_view>({"=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt",
                                         "-le", "-gt", "-ge", "-nt", "-ot", "-ef"});
    return std::ranges::find(marks, mark) != marks.end();
  }

  static Truth not_empty(const Text& value) {
    const bool surely = std::ranges::any_of(
        value, [](const Piece& piece) { return piece.known && !piece.text.empty(); });
    if (surely) return Truth::yes;
    return known(value) ? Truth::no : Truth::unknown;
  }

  Truth ask(char question, const Token& about) {
    if (question == 'n') return not_empty(about.value);
    if (question == 'z') return inverse(not_empty(about.value));
    const auto text = plain(about.value);
    if (!text) return Truth::unknown;
    if (question == 'v') return from(shell_.state().variables.contains(*text));
    if (question == 't') return Truth::no;
    const auto path = path_in_tree(shell_.state().cwd, *text);
    if (!path) return Truth::unknown;
    const bool file = shell_.tree().is_file(*path);
    const bool folder = shell_.tree().is_folder(*path);
    const bool yes = question == 'd' ? folder
                     : question == 'f'
                         ? file
                         : std::string_view("erswx").contains(question) && (file || folder);
    // What the tree lacks may still be there when the job runs (data, checkpoints).
    if (yes) return Truth::yes;
    return file || folder ? Truth::no : Truth::unknown;
  }

  [[nodiscard]] Truth compare(const Token& left, std::string_view mark, const Token& right) const {
    const auto a = plain(left.value);
    const auto b = plain(right.value);
    if (mark == "=~") return a && b ? fits_expression(*b, *a) : Truth::unknown;
    if (mark == "=" || mark == "==" || mark == "!=") {
      const auto pattern = is_double_ ? plain(right.pattern) : b;
      if (!a || !pattern) return Truth::unknown;
      const Truth same = from(is_double_ ? matches(*pattern, *a) : *pattern == *a);
      return mark == "!=" ? inverse(same) : same;
    }
    if (!a || !b) return Truth::unknown;
    if (mark == "<" || mark == ">") return from(mark == "<" ? *a < *b : *a > *b);
    const auto x = shell_number(*a);
    const auto y = shell_number(*b);
    if (!x || !y || mark.size() != 3) return Truth::unknown;
    if (mark == "-eq") return from(*x == *y);
    if (mark == "-ne") return from(*x != *y);
    if (mark == "-lt") return from(*x < *y);
    if (mark == "-le") return from(*x <= *y);
    if (mark == "-gt") return from(*x > *y);
    return mark == "-ge" ? from(*x >= *y) : Truth::unknown;
  }

  Shell& shell_;
  std::vector<Token> tokens_;
  bool is_double_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// A plain `$X` or `${X}` that nobody set.
bool is_unset(Shell& shell, const Piece& piece) {
  std::string_view name = piece.text;
  if (piece.known || !name.starts_with('$')) return false;
  name.remove_prefix(name.starts_with("${") ? 2 : 1);
  if (name.ends_with('}')) name.remove_suffix(1);
  return is_name(name) && !is_surrounding(name) && !shell.state().variables.contains(name);
}

}  // namespace

Truth run_test(Shell& shell, const Arguments& argv) {
  std::vector<Token> tokens;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto raw = written(argv[i].text);
    const bool closes = i + 1 == argv.size() && raw == "]";
    if (closes) break;
    // A variable that nobody set counts as empty here, as it does in ${X:-y}.
    Text value = argv[i].text;
    for (auto& piece : value) {
      if (is_unset(shell, piece)) piece = {"", piece.place, true};
    }
    tokens.push_back({raw, std::move(value), {}});
  }
  return Test(shell, std::move(tokens), false).whole();
}

Truth run_double_test(Shell& shell, std::string_view inside, const PlacePtr& use) {
  std::vector<Token> tokens;
  auto expander = shell.expander(true);
  for (const auto& range : words_in(inside)) {
    const auto raw = inside.substr(range.begin, range.end - range.begin);
    tokens.push_back({std::string(raw), expander.single(raw, use), expander.pattern(raw, use)});
  }
  return Test(shell, std::move(tokens), true).whole();
}

}  // namespace schedmate::command
