// SPDX-License-Identifier: Apache-2.0
#include "command/arithmetic.hpp"

#include <array>
#include <charconv>
#include <string>

#include "base/text.hpp"
#include "command/shell_lexer.hpp"

namespace schedmate::command {
namespace {

using Number = std::optional<std::int64_t>;

struct Operator {
  std::string_view mark;
  int level;
};
/// Longer marks first, so that `<=` is not read as `<`.
constexpr auto operators = std::to_array<Operator>({{"**", 11},
                                                    {"<<", 8},
                                                    {">>", 8},
                                                    {"<=", 7},
                                                    {">=", 7},
                                                    {"==", 6},
                                                    {"!=", 6},
                                                    {"&&", 2},
                                                    {"||", 1},
                                                    {"*", 10},
                                                    {"/", 10},
                                                    {"%", 10},
                                                    {"+", 9},
                                                    {"-", 9},
                                                    {"<", 7},
                                                    {">", 7},
                                                    {"&", 5},
                                                    {"^", 4},
                                                    {"|", 3}});

Number power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
    if (result == 0 || (result == 1 && base == 1)) return result;
    if (base == -1) return exponent % 2 == 1 ? result : -result;
  }
  return result;
}

Number shifted(std::string_view mark, std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0 || b > 62) return std::nullopt;
  return mark == "<<" ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b) : a >> b;
}

Number checked(std::string_view mark, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (mark == "+") return __builtin_add_overflow(a, b, &result) ? Number() : result;
  if (mark == "-") return __builtin_sub_overflow(a, b, &result) ? Number() : result;
  if (mark == "*") return __builtin_mul_overflow(a, b, &result) ? Number() : result;
  if (mark == "**") return power(a, b);
  if (mark == "<<" || mark == ">>") return shifted(mark, a, b);
  if (b == 0 || b == -1) return b == 0 ? Number() : mark == "%" ? 0 : checked("-", 0, a);
  return mark == "/" ? a / b : a % b;
}

Number combined(std::string_view mark, Number left, Number right) {
  if (mark == "&&" && (left == 0 || right == 0)) return 0;
  if (mark == "||" && ((left && *left != 0) || (right && *right != 0))) return 1;
  if (!left || !right) return std::nullopt;
  const std::int64_t a = *left;
  const std::int64_t b = *right;
  if (mark == "<") return a < b;
  if (mark == ">") return a > b;
  if (mark == "<=") return a <= b;
  if (mark == ">=") return a >= b;
  if (mark == "==") return a == b;
  if (mark == "!=") return a != b;
  if (mark == "&&") return a != 0 && b != 0;
  if (mark == "||") return a != 0 || b != 0;
  if (mark == "&") return a & b;
  if (mark == "^") return a ^ b;
  if (mark == "|") return a | b;
  return checked(mark, a, b);
}

class Calculator {
 public:
  Calculator(std::string_view text, const Numbers& numbers) : text_(text), numbers_(numbers) {}

  Number whole() {
    Number value = assignment();
    while (take(",")) value = assignment();
    skip();
    return text_.empty() && !broken_ ? value : Number();
  }

 private:
  static constexpr int deepest_bracket = 60;

  void skip() {
    while (!text_.empty() && std::string_view(" \t\n$").contains(text_.front()))
      text_.remove_prefix(1);
  }
  bool take(std::string_view mark) {
    skip();
    if (!text_.starts_with(mark)) return false;
    text_.remove_prefix(mark.size());
    return true;
  }
  Number broken() {
    broken_ = true;
    text_ = {};
    return std::nullopt;
  }

  Number assignment() {
    if (++depth_ > deepest_bracket) return broken();
    const Number value = assigned();
    --depth_;
    return value;
  }

  Number assigned() {
    skip();
    const auto name = text_.substr(0, name_length(text_));
    auto rest = text_.substr(name.size());
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    constexpr auto marks =
        std::to_array<std::string_view>({"+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "="});
    for (const auto mark : marks) {
      if (name.empty() || !rest.starts_with(mark) || rest.starts_with("==")) continue;
      text_ = rest.substr(mark.size());
      Number value = assignment();
      if (mark != "=")
        value = combined(mark.substr(0, mark.size() - 1), numbers_.read(name), value);
      numbers_.write(name, value);
      return value;
    }
    return choice();
  }

  Number choice() {
    const Number condition = binary(1);
    if (!take("?")) return condition;
    const Number yes = assignment();
    if (!take(":")) return broken();
    const Number no = assignment();
    if (!condition) return std::nullopt;
    return *condition != 0 ? yes : no;
  }

  const Operator* next_operator() {
    skip();
    for (const auto& candidate : operators) {
      if (text_.starts_with(candidate.mark)) return &candidate;
    }
    return nullptr;
  }

  Number binary(int level) {
    if (++depth_ > deepest_bracket) return broken();
    Number left = unary();
    for (const auto* mark = next_operator(); mark != nullptr && mark->level >= level;
         mark = next_operator()) {
      text_.remove_prefix(mark->mark.size());
      const bool right_first = mark->mark == "**";
      left = combined(mark->mark, left, binary(mark->level + (right_first ? 0 : 1)));
    }
    --depth_;
    return left;
  }

  Number changed(std::string_view name, int by, bool before) {
    const Number old = numbers_.read(name);
    const Number value = old ? checked("+", *old, by) : Number();
    numbers_.write(name, value);
    return before ? value : old;
  }

  Number unary() {
    if (++depth_ > deepest_bracket) return broken();
    Number value;
    if (take("++") || take("--")) {
      const int by = *(text_.data() - 1) == '+' ? 1 : -1;
      skip();
      const auto name = text_.substr(0, name_length(text_));
      text_.remove_prefix(name.size());
      value = name.empty() ? broken() : changed(name, by, true);
    } else if (take("-")) {
      value = unary();
      value = value ? checked("-", 0, *value) : value;
    } else if (take("+")) {
      value = unary();
    } else if (take("!")) {
      value = unary();
      value = value ? Number(*value == 0) : value;
    } else if (take("~")) {
      value = unary();
      value = value ? Number(~*value) : value;
    } else {
      value = primary();
    }
    --depth_;
    return value;
  }

  Number primary() {
    if (take("(")) {
      const Number value = assignment();
      return take(")") ? value : broken();
    }
    skip();
    if (const std::size_t length = name_length(text_); length > 0) {
      const auto name = text_.substr(0, length);
      text_.remove_prefix(length);
      if (take("++")) return changed(name, 1, false);
      if (take("--")) return changed(name, -1, false);
      return numbers_.read(name);
    }
    std::size_t length = 0;
    while (length < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[length])) != 0 || text_[length] == '#'))
      ++length;
    if (length == 0) return broken();
    const auto value = shell_number(text_.substr(0, length));
    text_.remove_prefix(length);
    return value ? value : broken();
  }

  std::string_view text_;
  const Numbers& numbers_;
  int depth_ = 0;
  bool broken_ = false;
};

}  // namespace

std::optional<std::int64_t> shell_number(std::string_view text) {
  text = trim(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (const auto mark = text.find('#'); mark != std::string_view::npos) {
    base = parse_number<int>(text.substr(0, mark)).value_or(0);
    if (base < 2 || base > 36) return std::nullopt;
    text.remove_prefix(mark + 1);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
  }
  std::int64_t value = 0;
  if (text.starts_with('-')) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

std::optional<std::int64_t> calculate(std::string_view expression, const Numbers& numbers) {
  if (trim(expression).empty()) return 0;
  return Calculator(expression, numbers).whole();
}

}  // namespace schedmate::command
