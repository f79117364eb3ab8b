// SPDX-License-Identifier: Apache-2.0
#include "config/arithmetic.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.hpp"
#include "config/numbers.hpp"

namespace schedmate::config {
namespace {

using Data = Value::Data;
using Maybe = std::optional<Data>;
constexpr int most_depth = 64;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

/// Recursive descent, loosest operator first.
class Expression {
 public:
  explicit Expression(std::string_view text) : text_(text) {}

  Maybe read_all() {
    auto value = read_choice();
    skip_blank();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_blank() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view mark) {
    skip_blank();
    if (!text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blank();
    const auto rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && is_name_part(rest[word.size()])) return false;
    at_ += word.size();
    return true;
  }

  // x if c else y
  Maybe read_choice() {
    if (++depth_ > most_depth) return std::nullopt;
    auto value = read_or();
    if (value && take_word("if")) {
      const auto condition = read_or();
      if (!condition || !take_word("else")) return std::nullopt;
      auto other = read_choice();
      const auto truth = Value(*condition).truth();
      if (!truth || !other) return std::nullopt;
      if (!*truth) value = std::move(other);
    }
    --depth_;
    return value;
  }

  Maybe read_or() {
    auto left = read_and();
    while (left && take_word("or")) {
      auto right = read_and();
      if (!right) return std::nullopt;
      if (!Value(*left).truth().value_or(false)) left = std::move(right);
    }
    return left;
  }
  Maybe read_and() {
    auto left = read_not();
    while (left && take_word("and")) {
      auto right = read_not();
      if (!right) return std::nullopt;
      if (Value(*left).truth().value_or(false)) left = std::move(right);
    }
    return left;
  }
  Maybe read_not() {
    bool inverted = false;
    bool any = false;
    for (; take_word("not"); any = true) inverted = !inverted;
    auto value = read_comparison();
    if (!any || !value) return value;
    const auto truth = Value(*value).truth();
    if (!truth) return std::nullopt;
    return Data(*truth != inverted);
  }

  Maybe read_comparison() {
    auto left = read_sum();
    for (const std::string_view mark : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!left || !take(mark)) continue;
      const auto right = read_sum();
      if (!right) return std::nullopt;
      return compare(*left, mark, *right);
    }
    return left;
  }

  Maybe read_sum() {
    auto left = read_product();
    while (left) {
      const char mark = take("+") ? '+' : take("-") ? '-' : ' ';
      if (mark == ' ') break;
      const auto right = read_product();
      if (!right) return std::nullopt;
      left = apply(*left, mark, *right);
    }
    return left;
  }
  Maybe read_product() {
    auto left = read_sign();
    while (left) {
      const char mark = take("//")  ? 'f'
                        : take("/") ? '/'
                        : take("*") ? '*'
                        : take("%") ? '%'
                                    : ' ';
      if (mark == ' ') break;
      const auto right = read_sign();
      if (!right) return std::nullopt;
      left = apply(*left, mark, *right);
    }
    return left;
  }
  Maybe read_sign() {
    bool negative = false;
    while (true) {
      if (take("-")) {
        negative = !negative;
      } else if (!take("+")) {
        break;
      }
    }
    auto value = read_power();
    return value && negative ? apply(std::int64_t{0}, '-', *value) : value;
  }
  Maybe read_power() {
    auto base = read_atom();
    if (!base || !take("**")) return base;
    if (++depth_ > most_depth) return std::nullopt;
    const auto exponent = read_sign();
    --depth_;
    return exponent ? apply(*base, 'p', *exponent) : std::nullopt;
  }

  Maybe read_atom() {
    skip_blank();
    if (at_ == text_.size()) return std::nullopt;
    if (take("(")) {
      auto value = read_choice();
      return take(")") ? value : std::nullopt;
    }
    const char c = text_[at_];
    if (c == '\'' || c == '"') return read_text(c);
    return is_name_start(c) ? read_name() : read_number();
  }

  Maybe read_text(char quote) {
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto start = std::exchange(at_, end + 1) + 1;
    return Data(std::string(text_.substr(start, end - start)));
  }

  Maybe read_number() {
    auto end = at_;
    const auto is_exponent = [&] {
      return end > at_ && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    };
    while (end < text_.size() &&
           (std::isdigit(static_cast<unsigned char>(text_[end])) || text_[end] == '.' ||
            text_[end] == '_' || text_[end] == 'e' || text_[end] == 'E' ||
            ((text_[end] == '-' || text_[end] == '+') && is_exponent())))
      ++end;
    std::string digits(text_.substr(at_, end - at_));
    std::erase(digits, '_');
    at_ = end;
    if (const auto whole = parse_number<std::int64_t>(digits)) return Data(*whole);
    if (const auto real = parse_number<double>(digits)) return Data(*real);
    return std::nullopt;
  }

  Maybe read_name() {
    auto end = at_;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    auto name = text_.substr(at_, end - at_);
    at_ = end;
    if (name == "True" || name == "true") return Data(true);
    if (name == "False" || name == "false") return Data(false);
    if (name == "None" || name == "null") return Data(code::None{});
    for (const std::string_view module : {"math.", "np.", "numpy."})
      if (name.starts_with(module)) name.remove_prefix(module.size());
    if (!take("(")) return std::nullopt;
    List arguments;
    while (!take(")")) {
      auto argument = read_choice();
      if (!argument) return std::nullopt;
      arguments.emplace_back(*std::move(argument));
      if (!take(",") && !text_.substr(at_).starts_with(')')) return std::nullopt;
    }
    return call_function(name, arguments);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Maybe fold(const List& arguments, char mark) {
  if (arguments.empty()) return std::nullopt;
  Maybe left = arguments[0].data;
  for (std::size_t i = 1; left && i < arguments.size(); ++i)
    left = apply(*left, mark, arguments[i].data);
  return left;
}

// Projects write `div` for / and for //: sure only where both give the same.
Maybe divide(const List& arguments) {
  if (arguments.size() != 2) return std::nullopt;
  const auto real = apply(arguments[0].data, '/', arguments[1].data);
  auto whole = apply(arguments[0].data, 'f', arguments[1].data);
  if (!real || !whole || Value(*real).number() == Value(*whole).number()) return whole;
  return Data(Unknown{std::make_shared<const List>(List{Value(*real), Value(*whole)})});
}

struct FoldRow {
  std::string_view name;
  char mark;
};
constexpr FoldRow folds[] = {{"mul", '*'},      {"multiply", '*'},   {"prod", '*'},
                             {"product", '*'},  {"times", '*'},      {"add", '+'},
                             {"sum", '+'},      {"plus", '+'},       {"sub", '-'},
                             {"subtract", '-'}, {"minus", '-'},      {"truediv", '/'},
                             {"true_div", '/'}, {"mod", '%'},        {"pow", 'p'},
                             {"floordiv", 'f'}, {"floor_div", 'f'},  {"int_div", 'f'},
                             {"idiv", 'f'},     {"divide_int", 'f'}, {"int_divide", 'f'}};

}  // namespace

std::optional<Value::Data> evaluate(std::string_view expression) {
  return Expression(expression).read_all();
}

std::optional<Value::Data> calculate(std::string_view name, const List& arguments) {
  const auto is_name = [&](const FoldRow& row) { return row.name == name; };
  const auto* const row = std::ranges::find_if(folds, is_name);
  const bool sums_a_list = arguments.size() == 1 && arguments[0].items() != nullptr;
  if (row != std::end(folds))
    return fold(sums_a_list ? *arguments[0].items() : arguments, row->mark);
  if (name == "div" || name == "divide") return divide(arguments);
  if (name.starts_with("to_")) name.remove_prefix(3);
  return call_function(name, arguments);
}

}  // namespace schedmate::config
